package io.orbitkv.manager.grant;

/**
 * The life of a grant at its owner.
 *
 * <pre>
 * ACTIVE --completed, revoked, expired--&gt; RETIRED --receipt of the source hold--&gt; DRAINED
 *                                            |                                      ^
 *                                            +--no evidence--&gt; QUARANTINED ----------+
 * </pre>
 */
public enum GrantState {
  /** Its token opens its ranges. */
  ACTIVE,
  /** Its token opens nothing any more; a read that had begun may still run. The source is held. */
  RETIRED,
  /** As RETIRED, and for so long that it is reported. */
  QUARANTINED,
  /** The source hold is drained, the source unpinned. */
  DRAINED;

  /** Whether the step from this state to {@code next} is legal. */
  public boolean canBecome(GrantState next) {
    return switch (this) {
      case ACTIVE -> next == RETIRED;
      case RETIRED -> next == QUARANTINED || next == DRAINED;
      case QUARANTINED -> next == DRAINED;
      case DRAINED -> false;
    };
  }
}
