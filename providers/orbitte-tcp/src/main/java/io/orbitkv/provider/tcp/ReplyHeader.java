package io.orbitkv.provider.tcp;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import java.lang.foreign.MemorySegment;

/**
 * What precedes every reply; status apart from data. Payload follows a header of kind DATA only.
 * Flags bit 0: the payload goes by reference, and a word on it is wanted.
 *
 * <pre>
 *  0    1     2     4   8          16             32             40
 *  +----+-----+-----+---+----------+--------------+--------------+
 *  |kind|flags|fault| 0 |request id|owner's epoch |payload bytes |
 *  +----+-----+-----+---+----------+--------------+--------------+
 * </pre>
 *
 * Decoded into fields that are used again for the next one. One thread at a time.
 */
final class ReplyHeader {
  private int kind;
  private boolean wordWanted;
  private FaultCode fault = FaultCode.UNKNOWN;
  private long requestId;
  private long payloadBytes;

  int kind() {
    return kind;
  }

  FaultCode fault() {
    return fault;
  }

  long requestId() {
    return requestId;
  }

  boolean wordWanted() {
    return wordWanted;
  }

  long payloadBytes() {
    return payloadBytes;
  }

  /**
   * Decodes one.
   *
   * @throws ProtocolException CORRUPT if it is no reply header or not of this owner
   */
  void decode(MemorySegment from, Epoch owner) throws ProtocolException {
    kind = Wire.u8(from, 0);
    fault = FaultCode.ofWire(Wire.u16(from, 2));
    requestId = Wire.i64(from, 8);
    payloadBytes = Wire.i64(from, 32);
    if (kind < Wire.KIND_DATA || kind > Wire.KIND_END) {
      throw new ProtocolException(FaultCode.CORRUPT, "a reply of kind " + kind);
    }
    boolean faultWithData = kind == Wire.KIND_DATA && Wire.u16(from, 2) != 0;
    int flags = Wire.u8(from, 1);
    wordWanted = flags != 0;
    boolean strangeFlags = flags != 0 && (kind != Wire.KIND_DATA || flags != Wire.FLAG_WORD_WANTED);
    if (faultWithData || strangeFlags || Wire.i32(from, 4) != 0) {
      throw new ProtocolException(FaultCode.CORRUPT, "a reply with reserved bits set");
    }
    if (Wire.i64(from, 16) != owner.high() || Wire.i64(from, 24) != owner.low()) {
      throw new ProtocolException(FaultCode.CORRUPT, "a reply of another transport epoch");
    }
    if (kind != Wire.KIND_DATA && payloadBytes != 0) {
      throw new ProtocolException(FaultCode.CORRUPT, "a refusal with payload");
    }
  }

  /** Writes the header of a reply with data. */
  static void writeData(
      MemorySegment to, long requestId, Epoch owner, long payloadBytes, boolean wordWanted) {
    write(to, Wire.KIND_DATA, 0, requestId, owner, payloadBytes);
    Wire.u8(to, 1, wordWanted ? Wire.FLAG_WORD_WANTED : 0);
  }

  /** Writes the refusal of one READ. */
  static void writeRefusal(MemorySegment to, long requestId, Epoch owner, FaultCode fault) {
    write(to, Wire.KIND_REFUSED, fault.wire(), requestId, owner, 0);
  }

  /** Writes the end of the connection. */
  static void writeEnd(MemorySegment to, Epoch owner, FaultCode fault) {
    write(to, Wire.KIND_END, fault.wire(), 0, owner, 0);
  }

  private static void write(
      MemorySegment to, int kind, int fault, long requestId, Epoch owner, long payloadBytes) {
    Wire.u8(to, 0, kind);
    Wire.u8(to, 1, 0);
    Wire.u16(to, 2, fault);
    Wire.i32(to, 4, 0);
    Wire.i64(to, 8, requestId);
    Preface.writeEpoch(to, 16, owner);
    Wire.i64(to, 32, payloadBytes);
  }
}
