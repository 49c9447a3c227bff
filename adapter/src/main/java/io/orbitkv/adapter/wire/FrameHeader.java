package io.orbitkv.adapter.wire;

import io.orbitkv.api.Epoch;
import java.lang.foreign.MemorySegment;

/**
 * The 48 bytes before the body of every frame of the socket. Little-endian; the epoch is 16 raw
 * bytes. The first 16 bytes keep their meaning in every version, so that a refusal is understood.
 *
 * <pre>
 *  0  u16 version        2  u16 kind             4  u32 body length, bytes
 *  8  u32 magic "OKVC"  12  u16 descriptors     14  u16 0
 * 16  u64 request id    24  u64 session token
 * 32  16 bytes Manager epoch
 * </pre>
 *
 * @param version of the protocol that the sender speaks
 * @param kind number of a {@link FrameKind}, not checked
 * @param bodyBytes length of the body, 0 to 2^32-1
 * @param magic {@link #MAGIC}, or the bytes of somebody else
 * @param descriptors how many file descriptors travel with the first byte
 * @param requestId an answer repeats it
 * @param session token of the session, 0 in HELLO
 * @param epoch of the Manager that is meant, {@link Epoch#NONE} in HELLO
 */
public record FrameHeader(
    int version,
    int kind,
    long bodyBytes,
    long magic,
    int descriptors,
    long requestId,
    long session,
    Epoch epoch) {
  /** Length of the encoded form. */
  public static final int BYTES = 48;

  /** "OKVC", read as a little-endian u32. */
  public static final long MAGIC = 0x43564b4fL;

  /** The longest body. */
  public static final int BODY_LIMIT = 64 << 20;

  /** Reads the first 48 bytes of a range; checks nothing but that they are there. */
  public static FrameHeader decode(MemorySegment from) {
    Cursor cursor = new Cursor("frame header", from);
    int version = cursor.u16();
    int kind = cursor.u16();
    long bodyBytes = cursor.u32();
    long magic = cursor.u32();
    int descriptors = cursor.u16();
    cursor.skip(2);
    return new FrameHeader(
        version, kind, bodyBytes, magic, descriptors, cursor.u64(), cursor.u64(), cursor.epoch());
  }

  /** Writes the first 48 bytes of a range. */
  public void encode(MemorySegment to) {
    new Cursor("frame header", to)
        .putU16(version)
        .putU16(kind)
        .putU32(bodyBytes)
        .putU32(magic)
        .putU16(descriptors)
        .putU16(0)
        .putU64(requestId)
        .putU64(session)
        .putEpoch(epoch);
  }
}
