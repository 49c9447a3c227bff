package io.orbitkv.adapter.restore;

/**
 * One session's claim of one record in one generation: writes ACTIVE, fences, reads the Manager's
 * word again, and only then copies. The only writer of the session's word while it is not ended.
 *
 * <p>Made by {@link SessionClaims}. Thread-safe. Ends once: after its last part, when it backed
 * off, or when it was cancelled before it began. An end that is not reported (a copy whose fate is
 * unknown, such as after a CUDA error) is never written: the source stays held.
 */
public final class RestoreClaim {
  /** Where it stands. A step leads from each to the next. */
  public enum Phase {
    /** The plan is known; nothing was written. {@link #begin} or {@link #cancel} is next. */
    HELD,
    /** A step writes ACTIVE. */
    CLAIMING,
    /** A step fences. */
    CLAIMED,
    /** A step reads the Manager's word again. */
    FENCED,
    /** The source may be read, until {@link #partEnded} was called for every part. */
    COPYING,
    /** A step writes that a part ended. */
    PART_ENDED,
    /** A step writes FAILED. */
    BACKING_OFF,
    /** Nothing of this generation is read or written any more. */
    ENDED
  }

  private final long generation;
  private final SharedWord own;
  private final SharedWord manager;
  private final Barriers barriers;
  private final Runnable whenEnded;

  private Phase phase = Phase.HELD;
  private EngineState written = EngineState.NONE;
  private int openParts;
  private boolean whole = true;

  RestoreClaim(
      long generation, SharedWord own, SharedWord manager, Barriers barriers, Runnable whenEnded) {
    this.generation = RestoreWord.requireGeneration(generation);
    this.own = own;
    this.manager = manager;
    this.barriers = barriers;
    this.whenEnded = whenEnded;
  }

  /** The record's generation. */
  public long generation() {
    return generation;
  }

  /** Where it stands. */
  public synchronized Phase phase() {
    return phase;
  }

  /**
   * Claims.
   *
   * @param parts how many ends will be reported, at least 1
   * @return whether the source may be read now, until the last part was reported; false if it was
   *     revoked, and then the claim has ended
   * @throws IllegalStateException if it was claimed or cancelled before
   */
  public boolean claim(int parts) {
    synchronized (this) {
      begin(parts);
      settle();
    }
    return tellEnd() != Phase.ENDED;
  }

  /**
   * Reports that one part has ended: nothing reads the source for it any more.
   *
   * @param whole whether its bytes are in place
   * @return whether it was the last one, and the claim has ended
   * @throws IllegalStateException if no part is open
   */
  public boolean endPart(boolean whole) {
    synchronized (this) {
      partEnded(whole);
      settle();
    }
    return tellEnd() == Phase.ENDED;
  }

  /**
   * Cancels a plan that was not claimed: it is never claimed then.
   *
   * @return true if nothing reads the source for it, now or later; false if it lost to the claim:
   *     the pages that it fills stay busy until it has ended
   */
  public boolean cancel() {
    synchronized (this) {
      if (phase == Phase.HELD) {
        phase = Phase.ENDED;
      }
    }
    return tellEnd() == Phase.ENDED;
  }

  /** As {@link #claim}, without its steps. */
  public synchronized void begin(int parts) {
    require(Phase.HELD, "claim");
    if (parts < 1) {
      throw new IllegalArgumentException(this + ": " + parts + " parts; needs at least one");
    }
    openParts = parts;
    phase = Phase.CLAIMING;
  }

  /** As {@link #endPart}, without its step. */
  public synchronized void partEnded(boolean whole) {
    require(Phase.COPYING, "the end of a part");
    openParts--;
    this.whole &= whole;
    boolean says = openParts == 0 || written == EngineState.ACTIVE;
    phase = says ? Phase.PART_ENDED : Phase.COPYING;
  }

  /**
   * Makes the one access to memory that is next.
   *
   * @throws IllegalStateException if none is
   */
  public void step() {
    synchronized (this) {
      advance();
    }
    var _ = tellEnd();
  }

  private void advance() {
    switch (phase) {
      case CLAIMING -> {
        write(EngineState.ACTIVE);
        phase = Phase.CLAIMED;
      }
      case CLAIMED -> {
        barriers.fence();
        phase = Phase.FENCED;
      }
      case FENCED -> {
        boolean granted = manager.load() == ManagerState.GRANTED.word(generation);
        phase = granted ? Phase.COPYING : Phase.BACKING_OFF;
      }
      case PART_ENDED -> {
        if (openParts > 0) {
          write(EngineState.PART_DRAINED);
          phase = Phase.COPYING;
        } else {
          end(whole ? EngineState.DRAINED : EngineState.FAILED);
        }
      }
      case BACKING_OFF -> end(EngineState.FAILED);
      case HELD, COPYING, ENDED -> throw new IllegalStateException(this + ": no step is next");
    }
  }

  private void settle() {
    while (phase != Phase.COPYING && phase != Phase.ENDED) {
      advance();
    }
  }

  // Without the lock: the session's lock is taken before a claim's.
  private Phase tellEnd() {
    Phase now = phase();
    if (now == Phase.ENDED) {
      whenEnded.run();
    }
    return now;
  }

  private void end(EngineState last) {
    write(last);
    phase = Phase.ENDED;
  }

  private void write(EngineState next) {
    if (!written.canBecome(next)) {
      throw new IllegalStateException(this + ": " + next + " may not follow " + written);
    }
    own.store(next.word(generation));
    written = next;
  }

  private void require(Phase needed, String what) {
    if (phase != needed) {
      throw new IllegalStateException(this + ": " + what + " needs a plan that is " + needed);
    }
  }

  /** Its whole state, in one line. */
  @Override
  public synchronized String toString() {
    return "claim of generation "
        + generation
        + ": "
        + phase
        + ", "
        + written
        + (openParts > 0 ? ", " + openParts + " parts open" : "")
        + (whole ? "" : ", not whole");
  }
}
