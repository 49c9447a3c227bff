package io.orbitkv.manager.memory;

/**
 * The life of an allocation.
 *
 * <pre>
 * RESERVED --sealed--&gt; SEALED --evicted--&gt; RETIRED --last hold ended--&gt; FREED
 *     \----------------abandoned-------------^
 * </pre>
 */
public enum AllocationState {
  /** Being filled; nobody may read it. */
  RESERVED,
  /** Filled, immutable, in the catalog. */
  SEALED,
  /** Out of the catalog; waits until the last hold on it has ended. */
  RETIRED,
  /** Its bytes are free; the object names nothing any more. */
  FREED;

  /** Whether the step from this state to {@code next} is legal. */
  public boolean canBecome(AllocationState next) {
    return switch (this) {
      case RESERVED -> next == SEALED || next == RETIRED;
      case SEALED -> next == RETIRED;
      case RETIRED -> next == FREED;
      case FREED -> false;
    };
  }
}
