package io.orbitkv.adapter.wire;

import java.lang.foreign.MemorySegment;

/**
 * Body of {@link FrameKind#REGISTER}: u16 kind, u16 0, u32 0, then by kind; for {@link
 * #HOST_SHARED} u64 offset in the memfd and u64 length, both in bytes.
 *
 * @param kind which memory it is
 * @param offset where the range begins, bytes; a multiple of the page size
 * @param bytes its length
 */
public record MemoryOffer(int kind, long offset, long bytes) {
  /** A memfd that is sealed against shrinking. */
  public static final int HOST_SHARED = 1;

  /** A CUDA allocation by its IPC handle; reserved. */
  public static final int CUDA_IPC = 2;

  private static final int HOST_BYTES = 24;

  /** The body of a host range. */
  public MemorySegment encode() {
    MemorySegment body = MemorySegment.ofArray(new byte[HOST_BYTES]);
    new Cursor("REGISTER", body).putU16(kind).putU16(0).putU32(0).putU64(offset).putU64(bytes);
    return body;
  }

  /**
   * Reads the body. Of kinds other than {@link #HOST_SHARED} only the kind is read.
   *
   * @throws io.orbitkv.api.TransportException INVALID
   */
  public static MemoryOffer decode(MemorySegment body) {
    Cursor cursor = new Cursor("REGISTER", body);
    int kind = cursor.u16();
    cursor.skip(6);
    if (kind != HOST_SHARED) {
      return new MemoryOffer(kind, 0, 0);
    }
    MemoryOffer offer = new MemoryOffer(kind, cursor.u64(), cursor.u64());
    cursor.end();
    return offer;
  }
}
