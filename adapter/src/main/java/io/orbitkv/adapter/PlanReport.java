package io.orbitkv.adapter;

import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.util.EnumSet;
import java.util.Set;

/**
 * How a plan stood when the Manager looked at it.
 *
 * @param state of the plan
 * @param evidence what ended the holds of the sessions that have ended
 */
public record PlanReport(State state, Set<Evidence> evidence) {
  /** The states, in the order of their wire numbers from 1. */
  public enum State {
    /** No session has claimed it. */
    GRANTED,
    /** A session has claimed it, and it is still granted. */
    ACTIVE,
    /** It was revoked, and a session still copies. */
    REVOKED,
    /** Every session that claimed it has every byte in place, and there is one. */
    ENDED_WHOLE,
    /** A session failed, or exited while it copied. */
    ENDED_IN_PART,
    /** No session has claimed it. */
    ENDED_UNUSED,
    /** A device may still copy, for a process that has exited. */
    QUARANTINED,
    /** It has ended, and its record is in use again. */
    ENDED_FORGOTTEN,
    /** Never granted to this instance. */
    UNKNOWN
  }

  /** Copies the set. */
  public PlanReport {
    evidence = Set.copyOf(evidence);
  }

  static PlanReport ofWire(long state, long bits) {
    if (state < 1 || state > State.values().length) {
      throw new TransportException(
          FaultCode.CORRUPT, "Manager's answer: plan in state " + state + " is not known here");
    }
    EnumSet<Evidence> evidence = EnumSet.noneOf(Evidence.class);
    for (Evidence one : Evidence.values()) {
      if ((bits & 1L << one.wire()) != 0) {
        evidence.add(one);
      }
    }
    return new PlanReport(State.values()[(int) state - 1], evidence);
  }
}
