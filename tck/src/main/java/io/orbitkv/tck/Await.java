package io.orbitkv.tck;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.spi.Ticket;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for conditions, with a deadline. */
final class Await {
  /** Long enough for a provider's own limits; a test that waits longer has failed. */
  private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(8);

  private static final long PAUSE_NANOS = 500_000;

  private Await() {}

  static void until(String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > DEADLINE_NANOS) {
        throw new AssertionError("not within 8 s: " + what);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  static DrainReceipt receipt(String what, Supplier<Optional<DrainReceipt>> drain) {
    DrainReceipt[] found = new DrainReceipt[1];
    until(
        what,
        () -> {
          drain.get().ifPresent(receipt -> found[0] = receipt);
          return found[0] != null;
        });
    return found[0];
  }

  static Outcome outcome(Ticket ticket) {
    try {
      return ticket
          .await(DEADLINE_NANOS)
          .orElseThrow(() -> new AssertionError("no outcome within 8 s: " + ticket));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + ticket, e);
    }
  }
}
