package io.orbitkv.ffm;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Waiting on a condition, with a deadline. */
final class Eventually {
  static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(20);

  private static final long POLL_NANOS = 50_000;

  private Eventually() {}

  interface Condition {
    boolean holds() throws Exception;
  }

  interface Explanation {
    String text() throws Exception;
  }

  static void until(Condition condition, Explanation otherwise) throws Exception {
    long end = System.nanoTime() + LIMIT_NANOS;
    while (!condition.holds()) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError(otherwise.text());
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  static <T> T present(@Nullable T value) {
    if (value == null) {
      throw new AssertionError("unexpected null");
    }
    return value;
  }
}
