package io.orbitkv.manager.transfer;

import java.util.Arrays;
import java.util.function.ToLongFunction;

/**
 * How long the last {@value #KEPT} completed fetches took, each of what one grant covered.
 * Thread-safe.
 */
public final class FetchTimes {
  /** How many are looked back at. */
  public static final int KEPT = 256;

  /**
   * A distribution, ns.
   *
   * @param mean average
   * @param p50 median
   * @param p99 99th percentile
   * @param max the longest
   */
  public record Distribution(long mean, long p50, long p99, long max) {}

  /**
   * What is looked back at.
   *
   * @param count how many fetches; if 0 all else is 0
   * @param grant from the question for a grant to its answer
   * @param read from the submission of its READs to the receipt of the last byte
   * @param whole both together; not what a grant waited in between for others to be read
   */
  public record Recent(int count, Distribution grant, Distribution read, Distribution whole) {}

  private record Times(long grantNanos, long readNanos) {}

  // Guarded by this.
  private final Times[] last = new Times[KEPT];
  private long added;

  /** One fetch that completed. */
  synchronized void add(long grantNanos, long readNanos) {
    last[(int) (added++ % KEPT)] = new Times(grantNanos, readNanos);
  }

  /** Of the fetches so far. */
  public Recent recent() {
    Times[] known;
    synchronized (this) {
      known = Arrays.copyOf(last, (int) Math.min(added, KEPT));
    }
    return new Recent(
        known.length,
        distribution(known, Times::grantNanos),
        distribution(known, Times::readNanos),
        distribution(known, times -> times.grantNanos() + times.readNanos()));
  }

  private static Distribution distribution(Times[] of, ToLongFunction<Times> figure) {
    long[] sorted = Arrays.stream(of).mapToLong(figure).sorted().toArray();
    return sorted.length == 0
        ? new Distribution(0, 0, 0, 0)
        : new Distribution(
            Arrays.stream(sorted).sum() / sorted.length,
            sorted[sorted.length / 2],
            sorted[sorted.length * 99 / 100],
            sorted[sorted.length - 1]);
  }
}
