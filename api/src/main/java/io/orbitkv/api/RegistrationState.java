package io.orbitkv.api;

/**
 * The life of a registration, at its provider and at whoever owns it.
 *
 * <pre>
 * REGISTERED --revoke--&gt; REVOKED --close succeeded--&gt; CLOSED
 *      \---------------close succeeded-----------------^
 * </pre>
 *
 * A close that fails changes nothing. A registration never goes back.
 */
public enum RegistrationState {
  /** New work may name the region. */
  REGISTERED,
  /** No new work may name the region; what has begun may still touch it. */
  REVOKED,
  /** The provider touches the region no more. */
  CLOSED;

  /** Whether the step from this state to {@code next} is legal. */
  public boolean canBecome(RegistrationState next) {
    return switch (this) {
      case REGISTERED -> next == REVOKED || next == CLOSED;
      case REVOKED -> next == CLOSED;
      case CLOSED -> false;
    };
  }
}
