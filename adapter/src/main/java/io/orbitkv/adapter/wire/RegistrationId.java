package io.orbitkv.adapter.wire;

import java.lang.foreign.MemorySegment;

/**
 * Body of {@link FrameKind#REGISTERED} and {@link FrameKind#UNREGISTER}: u64 id, u64 generation.
 *
 * @param id of registered engine memory within its session; used again later
 * @param generation of this use of the id; never used again
 */
public record RegistrationId(long id, long generation) {
  private static final int BYTES = 16;

  /** The body. */
  public MemorySegment encode() {
    MemorySegment body = MemorySegment.ofArray(new byte[BYTES]);
    new Cursor("registration", body).putU64(id).putU64(generation);
    return body;
  }

  /**
   * Reads the body.
   *
   * @throws io.orbitkv.api.TransportException INVALID
   */
  public static RegistrationId decode(MemorySegment body) {
    Cursor cursor = new Cursor("registration", body);
    RegistrationId decoded = new RegistrationId(cursor.u64(), cursor.u64());
    cursor.end();
    return decoded;
  }
}
