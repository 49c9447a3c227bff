package io.orbitkv.bench;

import java.util.List;

/** How evenly several requesters were served. */
public final class Fairness {
  private Fairness() {}

  /** Jain's index: 1 if all got the same, 1/n if one got all. */
  public static double jain(List<Double> rates) {
    double sum = rates.stream().mapToDouble(Double::doubleValue).sum();
    double squares = rates.stream().mapToDouble(rate -> rate * rate).sum();
    return squares == 0 ? 0 : sum * sum / (rates.size() * squares);
  }

  /** The slowest as a share of the mean. */
  public static double slowest(List<Double> rates) {
    double mean = rates.stream().mapToDouble(Double::doubleValue).average().orElse(0);
    return mean == 0 ? 0 : rates.stream().mapToDouble(Double::doubleValue).min().orElse(0) / mean;
  }
}
