package io.orbitkv.adapter.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;

/**
 * A position in a bounded range that is read or written in order, little-endian. Every step is
 * checked against the range, so bytes of a stranger can not lead out of it. For one thread.
 */
public final class Cursor {
  private static final ValueLayout.OfShort U16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt U32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong U64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong RAW =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final String what;
  private final MemorySegment range;
  private long position;

  /**
   * At the start of a range.
   *
   * @param what names the range in refusals, such as "query"
   */
  public Cursor(String what, MemorySegment range) {
    this.what = what;
    this.range = range;
  }

  /** Bytes between the position and the end. */
  public long remaining() {
    return range.byteSize() - position;
  }

  /** Bytes before the position. */
  public long position() {
    return position;
  }

  /** Reads one byte, 0 to 255. */
  public int u8() {
    return Byte.toUnsignedInt(range.get(ValueLayout.JAVA_BYTE, step(1)));
  }

  /** Reads two bytes, 0 to 65,535. */
  public int u16() {
    return Short.toUnsignedInt(range.get(U16, step(2)));
  }

  /** Reads four bytes, 0 to 2^32-1. */
  public long u32() {
    return Integer.toUnsignedLong(range.get(U32, step(4)));
  }

  /** Reads eight bytes; values of 2^63 and more read as negative. */
  public long u64() {
    return range.get(U64, step(8));
  }

  /** Reads sixteen bytes. */
  public Epoch epoch() {
    long at = step(Epoch.BYTES);
    return new Epoch(range.get(RAW, at), range.get(RAW, at + 8));
  }

  /** Reads so many bytes into an array of their own. */
  public byte[] bytes(int count) {
    long at = step(count);
    return range.asSlice(at, count).toArray(ValueLayout.JAVA_BYTE);
  }

  /** Reads so many bytes of UTF-8, strictly: two texts are never read as one. */
  public String text(int count) {
    long at = step(count);
    try {
      return UTF_8.newDecoder().decode(range.asSlice(at, count).asByteBuffer()).toString();
    } catch (CharacterCodingException e) {
      throw new TransportException(
          FaultCode.INVALID, what + ": text at offset " + at + " is not UTF-8", e);
    }
  }

  /** The next so many bytes as a range of their own. */
  public Cursor part(String partName, long count) {
    long at = step(count);
    return new Cursor(partName, range.asSlice(at, count));
  }

  /** Steps over so many bytes. */
  public void skip(long count) {
    var _ = step(count);
  }

  /** Reads four bytes that count entries of at least some length each, within a limit. */
  public int count(int limit, int leastBytes) {
    long count = u32();
    if (count > limit) {
      throw refused(count + " entries; the limit is " + limit);
    }
    if (count * leastBytes > remaining()) {
      throw refused(count + " entries do not fit the " + remaining() + " bytes that are left");
    }
    return (int) count;
  }

  /** Refuses what is left over. */
  public void end() {
    if (remaining() != 0) {
      throw refused(remaining() + " bytes are left over");
    }
  }

  /** Writes one byte. */
  public Cursor putU8(int value) {
    range.set(ValueLayout.JAVA_BYTE, step(1), (byte) value);
    return this;
  }

  /** Writes two bytes. */
  public Cursor putU16(int value) {
    range.set(U16, step(2), (short) value);
    return this;
  }

  /** Writes four bytes. */
  public Cursor putU32(long value) {
    range.set(U32, step(4), (int) value);
    return this;
  }

  /** Writes eight bytes. */
  public Cursor putU64(long value) {
    range.set(U64, step(8), value);
    return this;
  }

  /** Writes sixteen bytes. */
  public Cursor putEpoch(Epoch epoch) {
    long at = step(Epoch.BYTES);
    range.set(RAW, at, epoch.high());
    range.set(RAW, at + 8, epoch.low());
    return this;
  }

  /** Writes an array. */
  public Cursor putBytes(byte[] value) {
    long at = step(value.length);
    MemorySegment.copy(value, 0, range, ValueLayout.JAVA_BYTE, at, value.length);
    return this;
  }

  /** The refusal of this range, as an exception to throw. */
  public TransportException refused(String why) {
    return new TransportException(FaultCode.INVALID, what + ": " + why);
  }

  private long step(long count) {
    if (count < 0 || count > remaining()) {
      throw refused(count + " bytes needed at offset " + position + ", " + remaining() + " left");
    }
    long at = position;
    position += count;
    return at;
  }
}
