package io.orbitkv.manager.plan;

/** How the cancel of a plan is answered. */
public enum PlanCancel {
  /** No session copies for it, or will. */
  WON(1),
  /** It is revoked, and a session copies: the engine's own pages are busy until it has ended. */
  LOST_TO_ACTIVE(2),
  /** It had ended before. */
  ENDED(3),
  /** Never granted to this instance. */
  UNKNOWN(4);

  private final int wire;

  PlanCancel(int wire) {
    this.wire = wire;
  }

  /** The stable number. */
  public int wire() {
    return wire;
  }
}
