package io.orbitkv.adapter.wire;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;

/**
 * Body of {@link FrameKind#REFUSED}: u16 fault code, u16 0, u32 length of the text, text (UTF-8, at
 * most 1,024 bytes).
 *
 * @param code stable code
 * @param text one line: the thing, the cause, the fix
 */
public record Refusal(FaultCode code, String text) {
  /** The refusal that an exception stands for. */
  public static Refusal of(TransportException fault) {
    String message = fault.getMessage();
    return new Refusal(fault.code(), message == null ? fault.code().toString() : message);
  }

  /** The body. */
  public MemorySegment encode() {
    byte[] encoded = Text.cut(text, Text.REFUSAL_BYTES);
    MemorySegment body = MemorySegment.ofArray(new byte[8 + encoded.length]);
    new Cursor("REFUSED", body)
        .putU16(code.wire())
        .putU16(0)
        .putU32(encoded.length)
        .putBytes(encoded);
    return body;
  }

  /**
   * Reads the body.
   *
   * @throws TransportException INVALID
   */
  public static Refusal decode(MemorySegment body) {
    Cursor cursor = new Cursor("REFUSED", body);
    int code = cursor.u16();
    cursor.skip(2);
    int length = cursor.count(Text.REFUSAL_BYTES, 1);
    return new Refusal(FaultCode.ofWire(code), cursor.text(length));
  }

  /** As an exception to throw. */
  public TransportException exception() {
    return new TransportException(code, text);
  }
}
