package io.orbitkv.provider.tcp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Numbers of wire protocol version 1. Every integer is big-endian; diagrams with every offset are
 * in docs/protocol/orbitte-tcp.md and at the classes that read and write the frames.
 */
final class Wire {
  /** The first eight bytes of a preface: {@code "OKVTCP\r\n"}. */
  static final long MAGIC = 0x4F4B_5654_4350_0D0AL;

  static final int VERSION = 1;

  /** Offered: the requester says its word on replies if asked; the owner may ask for it. */
  static final int FEATURE_WORDS = 1;

  /** Required: the connection brings words and nothing else, also while the owner is closing. */
  static final int FEATURE_ONLY_WORDS = 2;

  /** Required by a requester: each payload is followed by its CRC32C. */
  static final int FEATURE_CHECKSUM = 4;

  /** Feature bits that this version understands. */
  static final int FEATURES = FEATURE_WORDS | FEATURE_ONLY_WORDS | FEATURE_CHECKSUM;

  static final int PREFACE_BYTES = 64;
  static final int READ_HEADER_BYTES = 64;
  static final int WORD_BYTES = 48;
  static final int REPLY_HEADER_BYTES = 40;

  /** CRC32C of the payload before it, and four bytes that are 0. */
  static final int CHECKSUM_BYTES = 8;

  static final int PLAIN_ENTRY_BYTES = 16;
  static final int STRIDED_ENTRY_BYTES = 32;

  static final int KIND_READ = 1;
  static final int KIND_DATA = 2;
  static final int KIND_REFUSED = 3;
  static final int KIND_END = 4;
  static final int KIND_WORD = 5;

  static final int FLAG_STRIDED = 1;

  /** Of a reply with data: it goes by reference, and the requester's word is wanted. */
  static final int FLAG_WORD_WANTED = 1;

  /** Payload of one READ at most, bytes. */
  static final int MAX_PAYLOAD = 8 << 20;

  /** Pieces of one READ at most, so that its header and pieces are one vector of 1,024. */
  static final int MAX_PIECES = 1_023;

  /** The longest READ frame, bytes. */
  static final int MAX_READ_BYTES = READ_HEADER_BYTES + MAX_PIECES * STRIDED_ENTRY_BYTES;

  /** Ranges of one grant at most. */
  static final int MAX_RANGES = 16_384;

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private Wire() {}

  static int u8(MemorySegment from, long at) {
    return from.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
  }

  static void u8(MemorySegment to, long at, int value) {
    to.set(ValueLayout.JAVA_BYTE, at, (byte) value);
  }

  static int u16(MemorySegment from, long at) {
    return from.get(SHORT, at) & 0xFFFF;
  }

  static void u16(MemorySegment to, long at, int value) {
    to.set(SHORT, at, (short) value);
  }

  /** All 32 bits; a count or length of more than 31 bits reads as negative. */
  static int i32(MemorySegment from, long at) {
    return from.get(INT, at);
  }

  static void i32(MemorySegment to, long at, int value) {
    to.set(INT, at, value);
  }

  /** All 64 bits; an offset or length of more than 63 bits reads as negative. */
  static long i64(MemorySegment from, long at) {
    return from.get(LONG, at);
  }

  static void i64(MemorySegment to, long at, long value) {
    to.set(LONG, at, value);
  }
}
