package io.orbitkv.adapter.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Aligned loads and stores of the words that both sides of a ring use. */
final class RingWords {
  private static final VarHandle LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final VarHandle INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private RingWords() {}

  static long acquire(MemorySegment memory, long offset) {
    return (long) LONG.getAcquire(memory, offset);
  }

  static void release(MemorySegment memory, long offset, long value) {
    LONG.setRelease(memory, offset, value);
  }

  static void plain(MemorySegment memory, long offset, long value) {
    LONG.set(memory, offset, value);
  }

  static boolean flag(MemorySegment memory, long offset) {
    return (int) INT.getOpaque(memory, offset) != 0;
  }

  static void flag(MemorySegment memory, long offset, boolean value) {
    INT.setOpaque(memory, offset, value ? 1 : 0);
  }
}
