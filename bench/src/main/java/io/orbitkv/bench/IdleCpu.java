package io.orbitkv.bench;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * What two processes use of a processor while nothing is asked of them.
 *
 * @param requester share of one core, 0 to the number of cores
 * @param owner the same of the other end
 */
public record IdleCpu(double requester, double owner) {
  /** The compilers and collectors of a JVM have some work left when the load ends. */
  private static final long SETTLE_MILLIS = 500;

  /**
   * Looks for a while.
   *
   * @param requesterNanos the processor time of one, nanoseconds
   * @param ownerNanos of the other
   */
  public static IdleCpu measure(
      LongSupplier requesterNanos, LongSupplier ownerNanos, double seconds)
      throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(SETTLE_MILLIS);
    long requester = requesterNanos.getAsLong();
    long owner = ownerNanos.getAsLong();
    long start = System.nanoTime();
    TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
    double elapsed = System.nanoTime() - start;
    return new IdleCpu(
        (requesterNanos.getAsLong() - requester) / elapsed,
        (ownerNanos.getAsLong() - owner) / elapsed);
  }
}
