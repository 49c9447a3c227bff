package io.orbitkv.api.provider;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The one atomic word from which receipts can come: a retired bit, and how many are inside.
 *
 * <pre>
 * open, n inside --retire--&gt; retired, n inside --leave, n times--&gt; drained
 * </pre>
 *
 * Entry and the check of the bit are one step, so that after {@link #drained()} was true once it is
 * true for ever. Whoever touches the memory enters before and leaves after: a thread, a system
 * call, a work request of a device. Thread-safe; never blocks.
 */
public final class Gate {
  private static final long RETIRED = Long.MIN_VALUE;

  private final AtomicLong word = new AtomicLong();

  /** A gate that is open, with nobody inside. */
  public Gate() {}

  /**
   * Enters, unless it is retired.
   *
   * @return whether it entered; who did calls {@link #leave()} once
   */
  public boolean enter() {
    long seen = word.get();
    while (seen >= 0) {
      long witness = word.compareAndExchange(seen, seen + 1);
      if (witness == seen) {
        return true;
      }
      seen = witness;
    }
    return false;
  }

  /**
   * Leaves.
   *
   * @return whether this step drained it: exactly one step does
   * @throws IllegalStateException if nobody is inside; nothing changes then
   */
  public boolean leave() {
    long seen = word.get();
    while (seen != 0 && seen != RETIRED) {
      long witness = word.compareAndExchange(seen, seen - 1);
      if (witness == seen) {
        return seen - 1 == RETIRED;
      }
      seen = witness;
    }
    throw new IllegalStateException("left a gate that nobody was inside of");
  }

  /**
   * Refuses, from its return on, every entry. Repeatable.
   *
   * @return whether this step drained it: exactly one step does
   */
  public boolean retire() {
    return word.getAndUpdate(seen -> seen | RETIRED) == 0;
  }

  /** Whether entries are refused. */
  public boolean retired() {
    return word.get() < 0;
  }

  /** Whether it is retired and nobody is inside: for ever, once it was. */
  public boolean drained() {
    return word.get() == RETIRED;
  }
}
