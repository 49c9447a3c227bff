package io.orbitkv.manager.plan;

import io.orbitkv.api.Evidence;
import java.util.Set;

/**
 * How a plan stood when it was looked at.
 *
 * @param state of the plan
 * @param evidence what ended the holds of the sessions that have ended
 */
public record PlanSight(PlanState state, Set<Evidence> evidence) {
  /** The evidence as bits: bit n for the wire number n. */
  public long evidenceBits() {
    long bits = 0;
    for (Evidence one : evidence) {
      bits |= 1L << one.wire();
    }
    return bits;
  }
}
