package io.orbitkv.adapter.ring;

import io.orbitkv.ffm.Cpu;
import java.util.function.BooleanSupplier;

/**
 * The bounded part of a wait: polls and yields, which is all that a reply needs if each side has a
 * processor. A yield that took long means that another thread wants this processor, and ends it.
 * Whoever gets false announces its sleep and blocks. For one thread at a time.
 */
public final class RingWait {
  /** Longest time of polling before a sleep. */
  public static final long SPIN_NANOS = 50_000;

  /** As long as an answer takes from another processor: a yield takes longer than that. */
  private static final int FIRST_POLLS = 64;

  private static final int POLLS = 16;
  private static final long LONG_YIELD_NANOS = 20_000;

  /** A yield after which another thread has run here takes longer. */
  private static final long EMPTY_YIELD_NANOS = 1_000;

  /** Whether the other side has shown to have a processor of its own, so that polling finds it. */
  private boolean apart;

  /** For one end of a ring, which is taken to share its processor with the other until it shows. */
  public RingWait() {}

  /**
   * Polls for a while.
   *
   * @param due cheap; whether there is something to do
   * @return whether there is
   */
  public boolean poll(BooleanSupplier due) {
    if (due.getAsBoolean()) {
      // Says nothing of where the other side runs.
      return true;
    }
    long start = System.nanoTime();
    long now = start;
    int polls = apart ? FIRST_POLLS : 0;
    while (now - start < SPIN_NANOS) {
      for (int i = 0; i < polls; i++) {
        Thread.onSpinWait();
        if (due.getAsBoolean()) {
          apart = true;
          return true;
        }
      }
      polls = POLLS;
      long before = System.nanoTime();
      Cpu.yieldNow();
      now = System.nanoTime();
      if (due.getAsBoolean()) {
        apart &= now - before < EMPTY_YIELD_NANOS;
        return true;
      }
      if (now - before > LONG_YIELD_NANOS) {
        break;
      }
    }
    return due.getAsBoolean();
  }
}
