package io.orbitkv.adapter.wire;

import io.orbitkv.api.FaultCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * What became of one block, in the descriptor of a {@link Opcode#PUBLISH_ANSWER}, which is a u32
 * count, a u32 that is 0, then 96 bytes a block in the order of the request: u16 status, u16 fault
 * code, u16 length of the text, u16 0, 88 bytes of text (UTF-8).
 *
 * @param status one of the constants
 * @param code why not; meaningful for {@link #FAULT} only
 * @param text why not, in words; empty unless {@link #FAULT}
 */
public record PublishStatus(int status, FaultCode code, String text) {
  /** Copied and in the catalog. */
  public static final int STORED = 1;

  /** Was there already; nothing was copied. */
  public static final int PRESENT = 2;

  /** Not stored. */
  public static final int FAULT = 3;

  /** Encoded length of one. */
  public static final int BYTES = 96;

  /** A block without a fault. */
  public static PublishStatus ok(int status) {
    return new PublishStatus(status, FaultCode.UNKNOWN, "");
  }

  /** A block that was not stored. */
  public static PublishStatus fault(FaultCode code, String text) {
    return new PublishStatus(FAULT, code, text);
  }

  /** Encodes the descriptor; texts are cut to {@link Text#RECORD_BYTES}. */
  public static byte[] encode(List<PublishStatus> entries) {
    byte[] encoded = new byte[Math.addExact(8, Math.multiplyExact(entries.size(), BYTES))];
    Cursor to = new Cursor("publish answer", MemorySegment.ofArray(encoded));
    to.putU32(entries.size()).putU32(0);
    for (PublishStatus entry : entries) {
      byte[] text = Text.cut(entry.text, Text.RECORD_BYTES);
      to.putU16(entry.status).putU16(entry.code.wire()).putU16(text.length).putU16(0);
      to.putBytes(text);
      to.skip(Text.RECORD_BYTES - text.length);
    }
    return encoded;
  }

  /**
   * Decodes the descriptor.
   *
   * @throws io.orbitkv.api.TransportException INVALID if it breaks the layout or the limit
   */
  public static List<PublishStatus> decode(Cursor from) {
    int count = from.count(PublishEntry.LIMIT, BYTES);
    from.skip(4);
    List<PublishStatus> entries = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int status = from.u16();
      FaultCode code = FaultCode.ofWire(from.u16());
      int length = from.u16();
      from.skip(2);
      Cursor text = from.part("publish answer's text", Text.RECORD_BYTES);
      entries.add(new PublishStatus(status, code, text.text(length)));
    }
    from.end();
    return entries;
  }
}
