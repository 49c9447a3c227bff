package io.orbitkv.manager.restore;

/** How the cancel of a promise is answered. */
public enum CancelAnswer {
  /** Not yet: no cancel was asked for, or its revocation has not been decided. */
  PENDING,
  /** No session copies for the plan, or will: the engine's own pages are free. */
  WON,
  /**
   * It lost to a session that is ACTIVE: the engine's own pages stay busy until that one is DRAINED
   * or FAILED, or its process has exited. Becomes WON then; never, if a device may still copy for a
   * process that exited.
   */
  LOST_TO_ACTIVE
}
