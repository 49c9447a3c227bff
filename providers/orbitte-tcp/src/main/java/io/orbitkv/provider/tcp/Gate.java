package io.orbitkv.provider.tcp;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The one atomic word from which receipts come: a retired bit, and how many threads are inside.
 *
 * <pre>
 * open, n inside --retire--&gt; retired, n inside --leave, n times--&gt; drained
 * </pre>
 *
 * Entry and the check of the bit are one step, so that after {@link #drained()} was true once it is
 * true for ever. Thread-safe; never blocks.
 */
final class Gate {
  private static final long RETIRED = Long.MIN_VALUE;

  private final AtomicLong word = new AtomicLong();

  /** Enters, unless it is retired. Who got true calls {@link #leave()} once. */
  boolean enter() {
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
   * @throws IllegalStateException if nobody is inside
   */
  boolean leave() {
    long after = word.decrementAndGet();
    if (after == RETIRED) {
      return true;
    }
    // Without a thread inside the count would run below zero: -1, or a positive number.
    if (after == -1 || after == Long.MAX_VALUE) {
      word.incrementAndGet();
      throw new IllegalStateException("left a gate that nobody was inside of");
    }
    return false;
  }

  /**
   * Refuses, from its return on, every entry. Repeatable.
   *
   * @return whether this step drained it: exactly one step does
   */
  boolean retire() {
    return word.getAndUpdate(seen -> seen | RETIRED) == 0;
  }

  /** Whether entries are refused. */
  boolean retired() {
    return word.get() < 0;
  }

  /** Whether it is retired and nobody is inside. */
  boolean drained() {
    return word.get() == RETIRED;
  }
}
