package io.orbitkv.manager.plan;

import io.orbitkv.manager.restore.ClaimsSeen;
import io.orbitkv.manager.restore.Promise;

/** How a plan stands, as engines are told. */
public enum PlanState {
  /** No session has claimed it. */
  GRANTED(1),
  /** A session has claimed it, and it is still granted. */
  ACTIVE(2),
  /** It was revoked, and a session still copies. */
  REVOKED(3),
  /** Every session that claimed it has every byte in place, and there is one. */
  ENDED_WHOLE(4),
  /** A session failed, or exited while it copied. */
  ENDED_IN_PART(5),
  /** No session has claimed it. */
  ENDED_UNUSED(6),
  /** A device may still copy. */
  QUARANTINED(7),
  /** The record is in use again. */
  FORGOTTEN(8),
  /** Never granted to this instance. */
  UNKNOWN(9);

  private final int wire;

  PlanState(int wire) {
    this.wire = wire;
  }

  /** The stable number. */
  public int wire() {
    return wire;
  }

  static PlanState of(Promise promise, boolean ended) {
    ClaimsSeen claims = promise.claims();
    if (promise.isQuarantined()) {
      return QUARANTINED;
    }
    if (!ended) {
      if (promise.isRevoked()) {
        return REVOKED;
      }
      return claims.claimed() == 0 ? GRANTED : ACTIVE;
    }
    if (claims.failed() + claims.lost() > 0) {
      return ENDED_IN_PART;
    }
    return claims.whole() > 0 ? ENDED_WHOLE : ENDED_UNUSED;
  }
}
