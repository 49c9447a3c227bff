package io.orbitkv.cli;

import io.orbitkv.adapter.QueryOptions;
import java.time.Duration;

/** Durations given in seconds on the command line. */
final class Seconds {
  private Seconds() {}

  /**
   * Checks and converts.
   *
   * @param option what the error names
   * @throws IllegalArgumentException unless more than 0 and at most what a query allows
   */
  static Duration parse(String option, double seconds) {
    long most = QueryOptions.MAX_DEADLINE.toSeconds();
    if (!(seconds >= 1e-3 && seconds <= most)) {
      throw new IllegalArgumentException(
          option + " " + seconds + " is out of range; give 0.001 to " + most + " seconds");
    }
    return Duration.ofNanos((long) (seconds * 1e9));
  }
}
