package io.orbitkv.systemtests.rig;

import io.orbitkv.adapter.BlockName;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One block of a test. Its name says all of its bytes, so that whoever reads a block knows what
 * must be in it, and a page of another request, number or generation in its place is seen at once.
 *
 * @param request who published it
 * @param number which page of that request
 * @param generation which publish of it
 * @param bytes its length
 */
public record Page(int request, int number, int generation, int bytes) {
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  /** The first pages of one request. */
  public static Stream<Page> of(int request, int generation, int count, int bytes) {
    return IntStream.range(0, count).mapToObj(i -> new Page(request, i, generation, bytes));
  }

  /** The block's name. */
  public BlockName name() {
    return BlockName.of(
        "system-tests",
        ByteBuffer.allocate(16)
            .putInt(request)
            .putInt(number)
            .putInt(generation)
            .putInt(bytes)
            .array());
  }

  /** Writes its pattern to the start of the memory. */
  public void fill(MemorySegment memory) {
    long key = key();
    long words = bytes / Long.BYTES;
    for (long i = 0; i < words; i++) {
      memory.set(WORD, i * Long.BYTES, mix(key + i * GOLDEN));
    }
    for (long at = words * Long.BYTES; at < bytes; at++) {
      memory.set(ValueLayout.JAVA_BYTE, at, (byte) key);
    }
  }

  /**
   * Where the memory differs first from its pattern; -1 if nowhere. Of memory that is shorter than
   * the page, its whole words count.
   */
  public long firstWrongByte(MemorySegment memory) {
    long key = key();
    long words = Math.min(bytes, memory.byteSize()) / Long.BYTES;
    for (long i = 0; i < words; i++) {
      if (memory.get(WORD, i * Long.BYTES) != mix(key + i * GOLDEN)) {
        return i * Long.BYTES;
      }
    }
    for (long at = words * Long.BYTES; at < bytes && memory.byteSize() >= bytes; at++) {
      if (memory.get(ValueLayout.JAVA_BYTE, at) != (byte) key) {
        return at;
      }
    }
    return -1;
  }

  private long key() {
    return mix(((long) request << 32 | number) + mix((long) generation << 32 | bytes));
  }

  // The finalizer of splitmix64.
  private static long mix(long z) {
    long y = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    y = (y ^ (y >>> 27)) * 0x94D049BB133111EBL;
    return y ^ (y >>> 31);
  }
}
