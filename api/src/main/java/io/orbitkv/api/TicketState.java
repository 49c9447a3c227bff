package io.orbitkv.api;

/**
 * The life of a ticket.
 *
 * <pre>
 * POSTED --outcome--&gt; SETTLED --receipt--&gt; DRAINED
 *                        |                     ^
 *                        +--&gt; QUARANTINED -----+  evidence that arrives late
 * </pre>
 *
 * Outcome and receipt are two events. A ticket never goes back.
 */
public enum TicketState {
  /** Submitted; the outcome is not known. */
  POSTED,
  /** The outcome is set; memory may still be touched. */
  SETTLED,
  /** No evidence was to be had; the memory stays held, charged and visible. */
  QUARANTINED,
  /** Its receipt was spent; it can touch memory no more. */
  DRAINED;

  /** Whether the step from this state to {@code next} is legal. */
  public boolean canBecome(TicketState next) {
    return switch (this) {
      case POSTED -> next == SETTLED;
      case SETTLED -> next == DRAINED || next == QUARANTINED;
      case QUARANTINED -> next == DRAINED;
      case DRAINED -> false;
    };
  }
}
