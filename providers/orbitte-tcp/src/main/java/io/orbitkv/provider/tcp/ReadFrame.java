package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import java.lang.foreign.MemorySegment;

/**
 * A READ: the requester asks for pieces of the ranges of one grant.
 *
 * <pre>
 *  0      4    5     6    8          16       24         32       48            56      60  64
 *  +------+----+-----+----+----------+--------+----------+--------+-------------+-------+---+----
 *  |length|kind|flags| 0  |request id|grant id|generation| token  |payload bytes|entries| 0 |...
 *  +------+----+-----+----+----------+--------+----------+--------+-------------+-------+---+----
 *
 *  plain entry      range (4), length (4), offset (8)
 *  strided entry    range (4), count (4), offset (8), length (8), stride (8)      if flags bit 0
 * </pre>
 *
 * Decoded in place and used again for the next one. One thread at a time.
 */
final class ReadFrame {
  private final EntryList entries = new EntryList();
  private long requestId;
  private long grantId;
  private long generation;
  private long tokenHigh;
  private long tokenLow;
  private long payloadBytes;

  long requestId() {
    return requestId;
  }

  long grantId() {
    return grantId;
  }

  long generation() {
    return generation;
  }

  long tokenHigh() {
    return tokenHigh;
  }

  long tokenLow() {
    return tokenLow;
  }

  long payloadBytes() {
    return payloadBytes;
  }

  EntryList entries() {
    return entries;
  }

  /**
   * Checks the first eight bytes, before anything is read because of them.
   *
   * @return the length of the whole frame
   * @throws ProtocolException INVALID
   */
  static int checkStart(MemorySegment from, long at) throws ProtocolException {
    int length = Wire.i32(from, at);
    int kind = Wire.u8(from, at + 4);
    int flags = Wire.u8(from, at + 5);
    if (kind != Wire.KIND_READ) {
      throw invalid("kind " + kind + " where a READ must be");
    }
    if ((flags & ~Wire.FLAG_STRIDED) != 0 || Wire.u16(from, at + 6) != 0) {
      throw invalid("unknown flags 0x" + Integer.toHexString(flags));
    }
    if (length < Wire.READ_HEADER_BYTES || length > Wire.MAX_READ_BYTES) {
      throw invalid(
          length + " bytes; a READ has " + Wire.READ_HEADER_BYTES + " to " + Wire.MAX_READ_BYTES);
    }
    return length;
  }

  /**
   * Decodes a frame that lies in the buffer as a whole and has passed {@link #checkStart}.
   *
   * @throws ProtocolException INVALID if a number is impossible under any grant
   */
  void decode(MemorySegment from, long at, int frameBytes) throws ProtocolException {
    boolean strided = (Wire.u8(from, at + 5) & Wire.FLAG_STRIDED) != 0;
    int entryBytes = strided ? Wire.STRIDED_ENTRY_BYTES : Wire.PLAIN_ENTRY_BYTES;
    requestId = Wire.i64(from, at + 8);
    grantId = Wire.i64(from, at + 16);
    generation = Wire.i64(from, at + 24);
    tokenHigh = Wire.i64(from, at + 32);
    tokenLow = Wire.i64(from, at + 40);
    payloadBytes = Wire.i64(from, at + 48);
    int count = Wire.i32(from, at + 56);
    if (count < 1
        || count > Wire.MAX_PIECES
        || frameBytes != Wire.READ_HEADER_BYTES + count * entryBytes
        || Wire.i32(from, at + 60) != 0) {
      throw invalid(count + " entries in a frame of " + frameBytes + " bytes");
    }
    if (payloadBytes < 1 || payloadBytes > Wire.MAX_PAYLOAD) {
      throw invalid("payload of " + payloadBytes + " bytes, 1 to " + Wire.MAX_PAYLOAD);
    }
    entries.clear();
    long left = payloadBytes;
    long pieces = 0;
    long position = at + Wire.READ_HEADER_BYTES;
    for (int i = 0; i < count; i++, position += entryBytes) {
      if (strided) {
        decodeStrided(from, position);
      } else {
        long length = Wire.i32(from, position + 4);
        entries.append(Wire.i32(from, position), Wire.i64(from, position + 8), length, length, 1);
      }
      left -= checkEntry(i, left);
      pieces += entries.count[i];
      if (pieces > Wire.MAX_PIECES) {
        throw invalid("more than " + Wire.MAX_PIECES + " pieces");
      }
    }
    if (left != 0) {
      throw invalid("entries that miss the payload's length by " + left + " bytes");
    }
  }

  private void decodeStrided(MemorySegment from, long position) {
    entries.append(
        Wire.i32(from, position),
        Wire.i64(from, position + 8),
        Wire.i64(from, position + 16),
        Wire.i64(from, position + 24),
        Wire.i32(from, position + 4));
  }

  /** Checks one entry by itself; returns its bytes, at most {@code left}. */
  private long checkEntry(int i, long left) throws ProtocolException {
    long length = entries.length[i];
    int count = entries.count[i];
    if (entries.range[i] < 0
        || entries.offset[i] < 0
        || length < 1
        || length > left
        || count < 1
        || count > left / length
        || entries.stride[i] < length) {
      throw invalid("entry " + i + " that is no span within the payload");
    }
    try {
      long last = Math.multiplyExact(entries.stride[i], (long) (count - 1));
      Math.addExact(Math.addExact(entries.offset[i], last), length);
    } catch (ArithmeticException e) {
      throw invalid("entry " + i + " that overflows");
    }
    return length * count;
  }

  /** Writes a READ at the start of the buffer; returns its length. */
  static int write(
      MemorySegment to,
      long requestId,
      GrantId grant,
      Token token,
      long payloadBytes,
      EntryList entries) {
    int length = entries.frameBytes();
    boolean strided = entries.strided();
    Wire.i32(to, 0, length);
    Wire.u8(to, 4, Wire.KIND_READ);
    Wire.u8(to, 5, strided ? Wire.FLAG_STRIDED : 0);
    Wire.u16(to, 6, 0);
    Wire.i64(to, 8, requestId);
    Wire.i64(to, 16, grant.id());
    Wire.i64(to, 24, grant.generation());
    Wire.i64(to, 32, token.high());
    Wire.i64(to, 40, token.low());
    Wire.i64(to, 48, payloadBytes);
    Wire.i32(to, 56, entries.size());
    Wire.i32(to, 60, 0);
    long at = Wire.READ_HEADER_BYTES;
    for (int i = 0; i < entries.size(); i++) {
      Wire.i32(to, at, entries.range[i]);
      Wire.i64(to, at + 8, entries.offset[i]);
      if (strided) {
        Wire.i32(to, at + 4, entries.count[i]);
        Wire.i64(to, at + 16, entries.length[i]);
        Wire.i64(to, at + 24, entries.stride[i]);
        at += Wire.STRIDED_ENTRY_BYTES;
      } else {
        Wire.i32(to, at + 4, (int) entries.length[i]);
        at += Wire.PLAIN_ENTRY_BYTES;
      }
    }
    return length;
  }

  private static ProtocolException invalid(String problem) {
    return new ProtocolException(FaultCode.INVALID, "a READ frame of " + problem);
  }
}
