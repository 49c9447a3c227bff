package io.orbitkv.provider.tcp;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for conditions, with a deadline. */
final class Await {
  private static final long DEADLINE_NANOS = 20_000_000_000L;
  private static final long PAUSE_NANOS = 500_000;

  private Await() {}

  static void until(String what, BooleanSupplier condition) {
    until(what, DEADLINE_NANOS, condition);
  }

  static void until(String what, long deadlineNanos, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > deadlineNanos) {
        throw new AssertionError("not within " + deadlineNanos / 1_000_000_000 + " s: " + what);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }
}
