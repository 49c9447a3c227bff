package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import java.lang.foreign.MemorySegment;

/**
 * What a requester sends. A READ: it asks for pieces of the ranges of one grant. A word: it will
 * read no more of the reply to a READ, having read its last byte or closed its end of the
 * connection; the first 48 bytes of that READ.
 *
 * <pre>
 *  0      4    5     6    8          16       24         32       48            56      60  64
 *  +------+----+-----+----+----------+--------+----------+--------+-------------+-------+---+----
 *  |length|kind|flags| 0  |request id|grant id|generation| token  |payload bytes|entries| 0 |...
 *  +------+----+-----+----+----------+--------+----------+--------+-------------+-------+---+----
 *
 *  word             length = 48, kind = 5, flags = 0; ends behind the token
 *  plain entry      range (4), length (4), offset (8)
 *  strided entry    range (4), count (4), offset (8), length (8), stride (8)      if flags bit 0
 * </pre>
 *
 * Decoded in place and used again for the next one. One thread at a time.
 */
final class ReadFrame {
  private final EntryList entries = new EntryList();
  private boolean word;
  private long requestId;
  private long grantId;
  private long generation;
  private long tokenHigh;
  private long tokenLow;
  private long payloadBytes;

  /** Whether it is a word, without payload and entries. */
  boolean isWord() {
    return word;
  }

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
    int reserved = Wire.u16(from, at + 6);
    if (kind == Wire.KIND_WORD && flags == 0 && length == Wire.WORD_BYTES && reserved == 0) {
      return length;
    }
    if (kind != Wire.KIND_READ) {
      throw invalid("kind " + kind + " where a READ must be");
    }
    if ((flags & ~Wire.FLAG_STRIDED) != 0 || reserved != 0) {
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
    requestId = Wire.i64(from, at + 8);
    grantId = Wire.i64(from, at + 16);
    generation = Wire.i64(from, at + 24);
    tokenHigh = Wire.i64(from, at + 32);
    tokenLow = Wire.i64(from, at + 40);
    entries.clear();
    word = Wire.u8(from, at + 4) == Wire.KIND_WORD;
    payloadBytes = 0;
    if (!word) {
      decodeEntries(from, at, frameBytes, strided);
    }
  }

  private void decodeEntries(MemorySegment from, long at, int frameBytes, boolean strided)
      throws ProtocolException {
    int entryBytes = strided ? Wire.STRIDED_ENTRY_BYTES : Wire.PLAIN_ENTRY_BYTES;
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
    writeStart(to, 0, length, Wire.KIND_READ, strided ? Wire.FLAG_STRIDED : 0);
    writeName(to, 0, requestId, grant, token);
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

  /** Writes a word at some bytes from the start; its length is {@link Wire#WORD_BYTES}. */
  static void writeWord(MemorySegment to, long at, Word word) {
    writeStart(to, at, Wire.WORD_BYTES, Wire.KIND_WORD, 0);
    writeName(to, at, word.requestId(), word.grant(), word.token());
  }

  private static void writeStart(MemorySegment to, long at, int length, int kind, int flags) {
    Wire.i32(to, at, length);
    Wire.u8(to, at + 4, kind);
    Wire.u8(to, at + 5, flags);
    Wire.u16(to, at + 6, 0);
  }

  private static void writeName(
      MemorySegment to, long at, long requestId, GrantId grant, Token token) {
    Wire.i64(to, at + 8, requestId);
    Wire.i64(to, at + 16, grant.id());
    Wire.i64(to, at + 24, grant.generation());
    Wire.i64(to, at + 32, token.high());
    Wire.i64(to, at + 40, token.low());
  }

  private static ProtocolException invalid(String problem) {
    return new ProtocolException(FaultCode.INVALID, "a READ frame of " + problem);
  }
}
