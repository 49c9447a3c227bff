package io.orbitkv.manager.plan;

import java.util.BitSet;

/** Which blocks of a plan bank are taken. Guarded by its instance. */
final class PlanBank {
  private final int blocks;
  private final BitSet taken = new BitSet();

  PlanBank(int blocks) {
    this.blocks = blocks;
  }

  /** Takes so many in one piece, at least one; where it begins, or -1 if there is no such piece. */
  int take(int count) {
    int first = taken.nextClearBit(0);
    while (first <= blocks - count) {
      int next = taken.nextSetBit(first);
      if (next < 0 || next - first >= count) {
        taken.set(first, first + count);
        return first;
      }
      first = taken.nextClearBit(next);
    }
    return -1;
  }

  /** Gives a piece back. */
  void give(int first, int count) {
    taken.clear(first, first + count);
  }
}
