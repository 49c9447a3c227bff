package io.orbitkv.adapter.ring;

import io.orbitkv.ffm.Cpu;
import java.util.function.BooleanSupplier;

/**
 * The bounded part of a wait: polls and yields, which is all that a reply needs if each side has a
 * processor. A yield that took long means that another thread wants this processor, and ends it.
 * Whoever gets false announces its sleep and blocks. Thread-safe, without a state.
 */
public final class RingWait {
  /** Longest time of polling before a sleep. */
  public static final long SPIN_NANOS = 50_000;

  private static final int POLLS = 16;
  private static final long LONG_YIELD_NANOS = 20_000;

  private RingWait() {}

  /**
   * Polls for a while.
   *
   * @param due cheap; whether there is something to do
   * @return whether there is
   */
  public static boolean poll(BooleanSupplier due) {
    long start = System.nanoTime();
    long now = start;
    while (now - start < SPIN_NANOS) {
      for (int i = 0; i < POLLS; i++) {
        if (due.getAsBoolean()) {
          return true;
        }
        Thread.onSpinWait();
      }
      long before = System.nanoTime();
      Cpu.yieldNow();
      now = System.nanoTime();
      if (now - before > LONG_YIELD_NANOS) {
        break;
      }
    }
    return due.getAsBoolean();
  }
}
