package io.orbitkv.provider.tcp;

import io.orbitkv.ffm.Cpu;

/**
 * How long a thread that expects bytes asks for them before it blocks: a wake-up costs more than a
 * short wait. It yields in between, so that another thread that wants the processor has it, and
 * adapts: waits that are longer than {@link #LONGEST_NANOS} are soon not polled for any more, and
 * where a yield was long the processor is wanted, so the next waits block at once. One thread at a
 * time.
 */
final class Polling {
  /** The longest wait that is polled for, ns. */
  static final long LONGEST_NANOS = 250_000;

  private static final long FIRST_NANOS = 100_000;
  private static final long LEAST_NANOS = 5_000;
  private static final int POLLS_PER_YIELD = 16;

  /** A yield that took longer gave the processor to another thread, ns. */
  private static final long LONG_YIELD_NANOS = 20_000;

  /** Waits that block after it, doubled up to the most while that goes on. */
  private static final int LEAST_BLOCKED_WAITS = 16;

  private static final int MOST_BLOCKED_WAITS = 2_048;

  private long budgetNanos = FIRST_NANOS;
  private int penalty = LEAST_BLOCKED_WAITS;
  private int blockedWaits;
  private int polls;
  private long sinceNanos;
  private boolean waiting;
  private boolean blocks;

  /** A poll found nothing: whether to poll again rather than to block. */
  boolean again() {
    if (!waiting) {
      waiting = true;
      polls = 0;
      sinceNanos = System.nanoTime();
      blocks = blockedWaits > 0;
      if (blocks) {
        blockedWaits--;
      }
    }
    if (blocks) {
      return false;
    }
    if (++polls % POLLS_PER_YIELD != 0) {
      Thread.onSpinWait();
      return true;
    }
    long before = System.nanoTime();
    if (before - sinceNanos >= budgetNanos) {
      blocks = true;
      return false;
    }
    Cpu.yieldNow();
    if (System.nanoTime() - before > LONG_YIELD_NANOS) {
      // Else a hundredth of the waits would be long, each for a turn of the other thread.
      blockedWaits = penalty;
      penalty = Math.min(2 * penalty, MOST_BLOCKED_WAITS);
      blocks = true;
    }
    return !blocks;
  }

  /** Bytes came: what this wait says about the next. */
  void found() {
    if (!waiting) {
      return;
    }
    waiting = false;
    if (!blocks) {
      penalty = Math.max(penalty / 2, LEAST_BLOCKED_WAITS);
    }
    long waited = System.nanoTime() - sinceNanos;
    if (waited <= LONGEST_NANOS) {
      budgetNanos = Math.max(budgetNanos / 2, Math.min(LONGEST_NANOS, LEAST_NANOS + 4 * waited));
    } else {
      budgetNanos /= 2;
    }
  }

  /** The wait was given up. */
  void dropped() {
    waiting = false;
  }
}
