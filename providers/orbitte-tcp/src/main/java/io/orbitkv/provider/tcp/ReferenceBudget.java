package io.orbitkv.provider.tcp;

import io.orbitkv.api.spi.Meters.Gauge;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes of all grants under which a reply was sent by reference and the requester's word is
 * missing. A peer that is lost keeps its part for ever, so they are bounded: beyond the limit the
 * source copies. Thread-safe.
 */
final class ReferenceBudget {
  private final long limit;
  private final Gauge gauge;
  private final AtomicLong taken = new AtomicLong();

  /** Nothing taken; a limit of 0 lets nothing be sent by reference. */
  ReferenceBudget(long limitBytes, Gauge gauge) {
    this.limit = limitBytes;
    this.gauge = gauge;
  }

  /** Takes all of so many bytes, or none; who got true gives them back once. */
  boolean take(long bytes) {
    long seen = taken.get();
    while (bytes <= limit - seen) {
      long witness = taken.compareAndExchange(seen, seen + bytes);
      if (witness == seen) {
        gauge.add(bytes);
        return true;
      }
      seen = witness;
    }
    return false;
  }

  void giveBack(long bytes) {
    taken.addAndGet(-bytes);
    gauge.add(-bytes);
  }
}
