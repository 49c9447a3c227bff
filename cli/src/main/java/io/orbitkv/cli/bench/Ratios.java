package io.orbitkv.cli.bench;

import io.orbitkv.bench.Comparison;
import io.orbitkv.bench.Sample;
import io.orbitkv.bench.Spread;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

/** The provider's figures as multiples of a baseline's; medians of the rounds. */
final class Ratios {
  private Ratios() {}

  /** A figure of a comparison as a multiple of the baseline's. */
  interface Ratio {
    double of(Comparison comparison, String baseline);
  }

  static double rate(Comparison comparison, String baseline) {
    return comparison.rateRatio(baseline);
  }

  static double p50(Comparison comparison, String baseline) {
    return ratio(comparison, baseline, sample -> sample.whole().p50());
  }

  static double p99(Comparison comparison, String baseline) {
    return ratio(comparison, baseline, sample -> sample.whole().p99());
  }

  static double cpu(Comparison comparison, String baseline) {
    return ratio(comparison, baseline, Sample::cpuSecondsPerGb);
  }

  private static double ratio(
      Comparison comparison, String baseline, ToDoubleFunction<Sample> figure) {
    return Spread.of(comparison.own(), figure).median()
        / Spread.of(comparison.samples(baseline), figure).median();
  }

  /** The geometric mean over the comparisons that have such a baseline; empty if none has. */
  static OptionalDouble mean(List<Comparison> comparisons, boolean polling, Ratio ratio) {
    OptionalDouble logs =
        comparisons.stream()
            .flatMapToDouble(
                comparison ->
                    comparison.best(polling).stream()
                        .mapToDouble(name -> Math.log(ratio.of(comparison, name))))
            .average();
    return logs.isPresent() ? OptionalDouble.of(Math.exp(logs.getAsDouble())) : logs;
  }
}
