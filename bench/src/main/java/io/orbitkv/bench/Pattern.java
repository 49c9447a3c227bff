package io.orbitkv.bench;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * What the owner's pool holds: each word (8 bytes, little-endian) is a function of its offset, so
 * that a block of a wrong place, a shifted one and one that was never written all differ.
 */
final class Pattern {
  /** Length of a word. */
  static final int WORD_BYTES = 8;

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final long GAMMA = 0x9E3779B97F4A7C15L;
  private static final int CHUNK = 1 << 16;

  private Pattern() {}

  /** Writes it over the whole of a pool. */
  static void fill(MemorySegment pool) {
    for (long at = 0; at < pool.byteSize(); at += CHUNK) {
      long length = Math.min(CHUNK, pool.byteSize() - at) / WORD_BYTES * WORD_BYTES;
      fill(pool.asSlice(at, length), at);
    }
  }

  /** Writes it as it is from an offset on. */
  static void fill(MemorySegment chunk, long offset) {
    int words = (int) (chunk.byteSize() / WORD_BYTES);
    for (int i = 0; i < words; i++) {
      chunk.set(WORD, (long) i * WORD_BYTES, wordAt(offset + (long) i * WORD_BYTES));
    }
  }

  /** Whether the word at {@code to} is the one that the owner has at {@code from}. */
  static boolean isWord(MemorySegment pool, long to, long from) {
    return pool.get(WORD, to) == wordAt(from);
  }

  /** Whether a whole block is the owner's. */
  static boolean isBlock(MemorySegment pool, long to, long from, long bytes) {
    long difference = 0;
    for (long at = 0; at < bytes; at += WORD_BYTES) {
      difference |= pool.get(WORD, to + at) ^ wordAt(from + at);
    }
    return difference == 0;
  }

  private static long wordAt(long offset) {
    return (offset / WORD_BYTES + 1) * GAMMA;
  }
}
