package io.orbitkv.manager.memory;

/**
 * One pin on one allocation: who, why, since when. While it lasts the bytes are not reused. Ended
 * once, by whoever has the evidence.
 */
public final class Hold {
  private final Pool pool;
  private final Allocation allocation;
  private final HoldKind kind;
  private final Object holder;
  private final long sinceNanos = System.nanoTime();

  // Guarded by the pool.
  boolean ended;
  boolean quarantined;

  Hold(Pool pool, Allocation allocation, HoldKind kind, Object holder) {
    this.pool = pool;
    this.allocation = allocation;
    this.kind = kind;
    this.holder = holder;
  }

  /** What is held. */
  public Allocation allocation() {
    return allocation;
  }

  /** Why. */
  public HoldKind kind() {
    return kind;
  }

  /** Who: a ticket's, grant's or session's name. */
  public Object holder() {
    return holder;
  }

  /** Since when, in ns of {@link System#nanoTime()}. */
  public long sinceNanos() {
    return sinceNanos;
  }

  /**
   * Ends it.
   *
   * @throws IllegalStateException if it was ended before: somebody unpinned without evidence
   */
  public void end() {
    pool.end(this);
  }

  /** Marks that no evidence was to be had so far: charged and visible as quarantine until ended. */
  public void quarantine() {
    pool.quarantine(this);
  }

  @Override
  public String toString() {
    return kind + " hold of " + holder + " on " + allocation;
  }
}
