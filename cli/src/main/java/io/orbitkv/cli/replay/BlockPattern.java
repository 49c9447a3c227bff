package io.orbitkv.cli.replay;

import io.orbitkv.adapter.BlockName;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The bytes that a block of a replay has: a function of the seed, the block's name and the offset,
 * so that a block under a wrong name, a shifted one and a stale one all differ. The words (8 bytes,
 * little-endian) are the SplitMix64 stream of a key made of seed and name. Immutable.
 */
public final class BlockPattern {
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final long GAMMA = 0x9E3779B97F4A7C15L;
  private static final int CHUNK_WORDS = 4096;

  private final long key;

  private BlockPattern(long key) {
    this.key = key;
  }

  /** The pattern of a block. */
  public static BlockPattern of(long seed, BlockName name) {
    byte[] namespace = name.namespace().getBytes(StandardCharsets.UTF_8);
    // The length keeps ("a", "bc") and ("ab", "c") apart.
    long key = mix(seed + GAMMA * (namespace.length + 1));
    return new BlockPattern(absorb(absorb(key, namespace), name.hash()));
  }

  /** The pattern whose words are the SplitMix64 stream of this very key. */
  static BlockPattern ofKey(long key) {
    return new BlockPattern(key);
  }

  /** Writes the pattern over the whole of a segment. */
  public void fill(MemorySegment block) {
    long words = block.byteSize() / 8;
    for (long first = 0; first < words; first += CHUNK_WORDS) {
      int count = (int) Math.min(CHUNK_WORDS, words - first);
      MemorySegment chunk = block.asSlice(first * 8, count * 8L);
      long state = key + first * GAMMA;
      for (int i = 0; i < count; i++) {
        state += GAMMA;
        chunk.set(WORD, i * 8L, mix(state));
      }
    }
    for (long at = words * 8; at < block.byteSize(); at++) {
      block.set(ValueLayout.JAVA_BYTE, at, expected(at));
    }
  }

  /** Compares every byte of a segment with the pattern; returns how many differ. */
  public long countMismatches(MemorySegment block) {
    long mismatches = 0;
    long words = block.byteSize() / 8;
    for (long first = 0; first < words; first += CHUNK_WORDS) {
      int count = (int) Math.min(CHUNK_WORDS, words - first);
      MemorySegment chunk = block.asSlice(first * 8, count * 8L);
      long difference = 0;
      long state = key + first * GAMMA;
      for (int i = 0; i < count; i++) {
        state += GAMMA;
        difference |= chunk.get(WORD, i * 8L) ^ mix(state);
      }
      if (difference != 0) {
        mismatches += countBytes(block, first * 8, (first + count) * 8);
      }
    }
    return mismatches + countBytes(block, words * 8, block.byteSize());
  }

  private long countBytes(MemorySegment block, long from, long to) {
    long mismatches = 0;
    for (long at = from; at < to; at++) {
      if (block.get(ValueLayout.JAVA_BYTE, at) != expected(at)) {
        mismatches++;
      }
    }
    return mismatches;
  }

  private byte expected(long offset) {
    return (byte) (mix(key + (offset / 8 + 1) * GAMMA) >>> (offset % 8 * 8));
  }

  private static long absorb(long key, byte[] bytes) {
    long result = key;
    for (byte b : bytes) {
      result = mix((result ^ (b & 0xFF)) + GAMMA);
    }
    return result;
  }

  private static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
