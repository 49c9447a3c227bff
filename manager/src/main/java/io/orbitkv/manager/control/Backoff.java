package io.orbitkv.manager.control;

import java.util.concurrent.ThreadLocalRandom;

/** How long to wait before the next attempt: doubles from 50 ms to 2 s, half of it random. */
final class Backoff {
  private static final long FIRST_MILLIS = 50;
  private static final long LAST_MILLIS = 2_000;

  private long next = FIRST_MILLIS;

  /** In ms. */
  long next() {
    long millis = next;
    next = Math.min(2 * millis, LAST_MILLIS);
    return millis / 2 + ThreadLocalRandom.current().nextLong(millis / 2 + 1);
  }

  void reset() {
    next = FIRST_MILLIS;
  }
}
