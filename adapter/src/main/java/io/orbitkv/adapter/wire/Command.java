package io.orbitkv.adapter.wire;

import io.orbitkv.api.Epoch;
import java.lang.foreign.MemorySegment;

/**
 * The 64 bytes that every request and every answer is, with its descriptor apart. Little-endian;
 * the epoch is 16 raw bytes.
 *
 * <pre>
 *  0  u16 protocol version     2  u16 opcode        4  u32 descriptor length, bytes
 *  8  u64 request id          16  16 bytes Manager epoch
 * 32  u64 descriptor offset   40  u64 generation
 * 48  u64 scalar 0            56  u64 scalar 1
 * </pre>
 *
 * @param version {@link #VERSION}, or what the other side speaks
 * @param opcode number of an {@link Opcode}, not checked
 * @param requestId chosen by the client, not 0, never again within a session; an answer repeats it
 * @param epoch of the Manager that is meant
 * @param descriptorOffset where the descriptor begins, bytes from the start of the descriptor arena
 * @param descriptorLength its length, bytes; 0 if there is none
 * @param generation how often the descriptor arena was gone through before; 0 without a descriptor
 * @param scalar0 by opcode
 * @param scalar1 by opcode
 */
public record Command(
    int version,
    int opcode,
    long requestId,
    Epoch epoch,
    long descriptorOffset,
    long descriptorLength,
    long generation,
    long scalar0,
    long scalar1) {
  /** The protocol version that this code speaks. */
  public static final int VERSION = 2;

  /** Length of the encoded form. */
  public static final int BYTES = 64;

  /** Reads the first 64 bytes of a range; checks nothing but that they are there. */
  public static Command decode(MemorySegment from) {
    Cursor cursor = new Cursor("command", from);
    int version = cursor.u16();
    int opcode = cursor.u16();
    long length = cursor.u32();
    long requestId = cursor.u64();
    Epoch epoch = cursor.epoch();
    long offset = cursor.u64();
    return new Command(
        version,
        opcode,
        requestId,
        epoch,
        offset,
        length,
        cursor.u64(),
        cursor.u64(),
        cursor.u64());
  }

  /** Writes the first 64 bytes of a range. */
  public void encode(MemorySegment to) {
    new Cursor("command", to)
        .putU16(version)
        .putU16(opcode)
        .putU32(descriptorLength)
        .putU64(requestId)
        .putEpoch(epoch)
        .putU64(descriptorOffset)
        .putU64(generation)
        .putU64(scalar0)
        .putU64(scalar1);
  }
}
