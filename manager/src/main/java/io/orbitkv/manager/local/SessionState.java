package io.orbitkv.manager.local;

/**
 * The life of a session.
 *
 * <pre>
 * OPEN -> CLOSING -> RETAINED -> ENDED
 *                \______________/
 * </pre>
 */
enum SessionState {
  /** Welcomed; frames are accepted. */
  OPEN,
  /** The last frame was read; what was accepted is being answered, then the socket closes. */
  CLOSING,
  /** The socket is closed; the process still holds leases, so the slot stays taken. */
  RETAINED,
  /** Nothing is left. */
  ENDED;

  /** Whether that step is legal. */
  boolean canBecome(SessionState next) {
    return switch (this) {
      case OPEN -> next == CLOSING;
      case CLOSING -> next == RETAINED || next == ENDED;
      case RETAINED -> next == ENDED;
      case ENDED -> false;
    };
  }
}
