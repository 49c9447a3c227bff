package io.orbitkv.manager;

import java.util.List;

/**
 * What a shutdown left behind.
 *
 * @param held what has no drain receipt, each with what it waits for; empty if everything was
 *     drained, unregistered and closed
 * @param failures the steps that failed, each with its cause; the others were taken nevertheless
 */
public record ShutdownReport(List<String> held, List<String> failures) {
  /** Copies the lists. */
  public ShutdownReport {
    held = List.copyOf(held);
    failures = List.copyOf(failures);
  }

  /** Whether nothing was given up and nothing failed. */
  public boolean clean() {
    return held.isEmpty() && failures.isEmpty();
  }
}
