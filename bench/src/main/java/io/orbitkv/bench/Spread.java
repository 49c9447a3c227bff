package io.orbitkv.bench;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Median and extremes of the rounds of one figure. */
public record Spread(double median, double min, double max) {
  /** Of at least one sample. */
  public static Spread of(List<Sample> samples, ToDoubleFunction<Sample> figure) {
    return of(samples.stream().mapToDouble(figure).toArray());
  }

  /** Of at least one number. */
  public static Spread of(double... figures) {
    double[] sorted = figures.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    double median =
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new Spread(median, sorted[0], sorted[sorted.length - 1]);
  }
}
