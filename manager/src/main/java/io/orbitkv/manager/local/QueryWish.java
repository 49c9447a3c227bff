package io.orbitkv.manager.local;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;

/**
 * What a query is to be answered by.
 *
 * @param fetch whether missing blocks are fetched from peers
 * @param prefix whether the answer ends at the first block that is missing
 * @param answer of which kind
 * @param redeemers of a promise: how many sessions are to redeem it; 0 for every worker
 */
record QueryWish(boolean fetch, boolean prefix, Kind answer, int redeemers) {
  /** The kinds of answers. */
  enum Kind {
    /** A lease. */
    LEASE,
    /** A plan of the instance. */
    PROMISE,
    /** Nothing is pinned; the blocks were fetched. */
    WARM_UP,
    /** Nothing is pinned, nor fetched. */
    CANDIDATES
  }

  /** The most sessions that a plan is told to. */
  static final int MAX_REDEEMERS = 64;

  private static final long FETCH = 1;
  private static final long PREFIX = 2;
  private static final long PROMISE = 4;
  private static final long WARM_UP = 8;
  private static final long CANDIDATES = 16;
  private static final int REDEEMERS_SHIFT = 8;
  private static final long REDEEMERS = 0xff00;

  /** Reads the flags of a QUERY; throws INVALID. */
  static QueryWish of(long flags) {
    long known = FETCH | PREFIX | PROMISE | WARM_UP | CANDIDATES | REDEEMERS;
    if ((flags & ~known) != 0) {
      throw refused("flags " + flags + "; bits 0 to 4 and 8 to 15 are known");
    }
    boolean fetch = (flags & FETCH) != 0;
    int redeemers = (int) ((flags & REDEEMERS) >>> REDEEMERS_SHIFT);
    Kind kind =
        switch ((int) (flags & (PROMISE | WARM_UP | CANDIDATES))) {
          case 0 -> Kind.LEASE;
          case (int) PROMISE -> Kind.PROMISE;
          case (int) WARM_UP -> Kind.WARM_UP;
          case (int) CANDIDATES -> Kind.CANDIDATES;
          default -> throw refused("flags " + flags + "; at most one of bits 2, 3 and 4");
        };
    if (kind == Kind.CANDIDATES && fetch) {
      throw refused("candidates with fetch; ask for one of them");
    }
    if (redeemers > MAX_REDEEMERS || (redeemers > 0 && kind != Kind.PROMISE)) {
      throw refused(redeemers + " redeemers; 0 to 64, of a promise");
    }
    return new QueryWish(fetch, (flags & PREFIX) != 0, kind, redeemers);
  }

  private static TransportException refused(String why) {
    return new TransportException(FaultCode.INVALID, "query: " + why);
  }
}
