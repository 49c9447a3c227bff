package io.orbitkv.manager.catalog;

import java.util.function.LongSupplier;

/** A lease table on a clock that the caller moves. */
public final class SteppedLeases {
  private SteppedLeases() {}

  /** An empty table. */
  public static LeaseTable table(long lifetimeNanos, LongSupplier clock) {
    return new LeaseTable(lifetimeNanos, clock);
  }
}
