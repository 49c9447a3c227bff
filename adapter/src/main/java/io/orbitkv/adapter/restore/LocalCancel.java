package io.orbitkv.adapter.restore;

import java.util.Objects;

/**
 * The cancel of one plan by the instance itself, when its Manager has died and nobody else answers:
 * the one who cancels tells every session, and hears from each. Thread-safe.
 */
public final class LocalCancel {
  private final int sessions;
  private long open;

  /**
   * Begins.
   *
   * @param sessions how many the plan was told to, 0 to 64
   */
  public LocalCancel(int sessions) {
    this.sessions = Objects.checkIndex(sessions, Long.SIZE + 1);
    open = sessions == 0 ? 0 : -1L >>> (Long.SIZE - sessions);
  }

  /**
   * A session's {@link RestoreClaim} of the plan has ended, or its process has exited. Saying so
   * again changes nothing.
   *
   * @param session 0 to sessions - 1
   * @return whether it was the last one
   */
  public synchronized boolean ended(int session) {
    open &= ~(1L << Objects.checkIndex(session, sessions));
    return open == 0;
  }

  /** Whether no session fills the engine's own pages for the plan, or will. */
  public synchronized boolean pagesFree() {
    return open == 0;
  }

  @Override
  public synchronized String toString() {
    return "local cancel, open " + Long.toHexString(open);
  }
}
