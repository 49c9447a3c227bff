package io.orbitkv.manager.catalog;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/**
 * What the bytes of a block add up to, so that whoever receives them can tell whether they are the
 * same. Immutable.
 *
 * @param crc32c CRC32C (Castagnoli) of all of its bytes
 */
public record Digest(int crc32c) {
  /** Small enough to be in the cache still when it is read for the second time. */
  private static final long STEP_BYTES = 256 << 10;

  /** Takes the digest of bytes where they lie; allocates nothing of their size. */
  public static Digest of(MemorySegment bytes) {
    CRC32C crc = new CRC32C();
    for (long at = 0; at < bytes.byteSize(); at += STEP_BYTES) {
      update(crc, bytes, at);
    }
    return of(crc);
  }

  /**
   * Copies bytes and takes the digest of the copy: what a source that changes meanwhile holds later
   * is not in it.
   *
   * @param to at least as long as {@code from}; native memory
   */
  public static Digest ofCopy(MemorySegment from, MemorySegment to) {
    MemorySegment copy = to.asSlice(0, from.byteSize());
    CRC32C crc = new CRC32C();
    for (long at = 0; at < from.byteSize(); at += STEP_BYTES) {
      MemorySegment.copy(from, at, copy, at, Math.min(STEP_BYTES, from.byteSize() - at));
      update(crc, copy, at);
    }
    return of(crc);
  }

  private static void update(CRC32C crc, MemorySegment bytes, long at) {
    crc.update(bytes.asSlice(at, Math.min(STEP_BYTES, bytes.byteSize() - at)).asByteBuffer());
  }

  private static Digest of(CRC32C crc) {
    return new Digest((int) crc.getValue());
  }
}
