package io.orbitkv.manager;

import java.util.List;

/**
 * What a shutdown left behind.
 *
 * @param held what has no drain receipt, each with what it waits for; empty if everything was
 *     drained, unregistered and closed
 */
public record ShutdownReport(List<String> held) {
  /** Copies the list. */
  public ShutdownReport {
    held = List.copyOf(held);
  }

  /** Whether nothing was given up. */
  public boolean clean() {
    return held.isEmpty();
  }
}
