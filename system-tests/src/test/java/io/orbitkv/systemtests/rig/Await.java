package io.orbitkv.systemtests.rig;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for conditions, never for time: each wait has a deadline and says what it waited for. */
public final class Await {
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private Await() {}

  /** Waits until the condition holds; an {@link AssertionError} if it does not by the deadline. */
  public static void until(String what, Duration deadline, BooleanSupplier condition) {
    until(what, deadline, condition, () -> "");
  }

  /**
   * As above; the detail is asked for when the deadline has passed, and printed.
   *
   * @throws AssertionError at the deadline, or if this thread is interrupted
   */
  public static void until(
      String what, Duration deadline, BooleanSupplier condition, Supplier<String> detail) {
    long end = System.nanoTime() + deadline.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0 || Thread.currentThread().isInterrupted()) {
        throw new AssertionError(
            "waited " + deadline.toMillis() + " ms in vain until " + what + " " + detail.get());
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }
}
