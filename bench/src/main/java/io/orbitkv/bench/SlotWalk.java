package io.orbitkv.bench;

import java.lang.foreign.MemorySegment;

/**
 * Chooses the blocks of one operation after the other; by the same rule as the baseline. Used by
 * one thread.
 */
final class SlotWalk {
  private static final long GAMMA = 0x9E3779B97F4A7C15L;

  private final LoopShape shape;
  private final int batch;
  private final long firstSlot;
  private final long slots;
  private final long allSlots;
  private final long[] to;
  private final long[] from;
  private long state;

  /**
   * The blocks of one thread.
   *
   * @param poolBytes of the requester's pool
   * @param sourceBytes of the owner's
   * @param thread which thread, from 0: its destination is its own share of the pool
   */
  SlotWalk(LoopShape shape, long poolBytes, long sourceBytes, int thread) {
    this.shape = shape;
    batch = shape.batchIn(poolBytes);
    slots = shape.slotsOfThread(poolBytes);
    allSlots = sourceBytes / shape.blockBytes();
    firstSlot = thread * slots;
    to = new long[batch];
    from = new long[batch];
    state = 7919L * (thread + 1) + shape.batch();
  }

  /** Blocks in one operation. */
  int batch() {
    return batch;
  }

  /** Where block {@code i} goes, bytes from the start of the requester's pool. */
  long to(int i) {
    return to[i];
  }

  /** Where block {@code i} comes from, bytes from the start of the owner's pool. */
  long from(int i) {
    return from[i];
  }

  /** A number from 0 to {@code bound}, without that. */
  long random(long bound) {
    state += GAMMA;
    long z = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return Long.remainderUnsigned(z ^ (z >>> 31), bound);
  }

  /** Whether the ends of one of the blocks are the owner's: cheap enough for each operation. */
  boolean isSampleRight(MemorySegment pool) {
    int i = (int) random(batch);
    long last = shape.blockBytes() - Pattern.WORD_BYTES;
    return Pattern.isWord(pool, to[i], from[i])
        && Pattern.isWord(pool, to[i] + last, from[i] + last);
  }

  /** Whether every byte of all blocks is the owner's. */
  boolean isAllRight(MemorySegment pool) {
    for (int i = 0; i < batch; i++) {
      if (!Pattern.isBlock(pool, to[i], from[i], shape.blockBytes())) {
        return false;
      }
    }
    return true;
  }

  /** Chooses the next blocks. */
  void next() {
    choose(to, slots, firstSlot);
    choose(from, allSlots, 0);
  }

  private void choose(long[] offsets, long within, long first) {
    long step = 1;
    long start;
    if (shape.strided()) {
      step = shape.strideBytes() / shape.blockBytes();
      start = random(within - (batch - 1) * step);
    } else {
      start = random(within);
      step = batch == 1 ? 1 : coprime(within);
    }
    long slot = start;
    for (int i = 0; i < batch; i++) {
      offsets[i] = (first + slot) * shape.blockBytes();
      slot += step;
      if (slot >= within) {
        slot -= within;
      }
    }
  }

  /** A step that meets every slot once before it meets one again. */
  private long coprime(long within) {
    long step;
    long divisor;
    do {
      step = random(within);
      divisor = within;
      long rest = step;
      while (rest != 0) {
        long next = divisor % rest;
        divisor = rest;
        rest = next;
      }
    } while (divisor != 1 && within > 1);
    return step;
  }
}
