package io.orbitkv.adapter;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;

/** How the cancel of a plan ended. */
public enum PlanCancellation {
  /** No session copies for it, or will: the pages that it fills are free. */
  WON(1),
  /** It is revoked, and a session copies: the pages that it fills are busy until it has ended. */
  LOST_TO_ACTIVE(2),
  /** It had ended before: no session copies for it. */
  ENDED(3),
  /** No such plan was ever granted to this instance. */
  UNKNOWN(4),
  /**
   * The Manager can not be asked any more. This session copies for it no more and never will; the
   * pages that it fills are free once every other session of the instance has said the same.
   */
  GIVEN_UP_HERE(-1);

  private final int wire;

  PlanCancellation(int wire) {
    this.wire = wire;
  }

  static PlanCancellation ofWire(long wire) {
    for (PlanCancellation one : values()) {
      if (one.wire == wire && one != GIVEN_UP_HERE) {
        return one;
      }
    }
    throw new TransportException(
        FaultCode.CORRUPT, "Manager's answer to a cancel: " + wire + " is not known here");
  }
}
