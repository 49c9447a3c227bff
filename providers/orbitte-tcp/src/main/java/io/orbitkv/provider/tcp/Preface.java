package io.orbitkv.provider.tcp;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.TcpStream;
import java.lang.foreign.MemorySegment;

/**
 * The first 64 bytes in each direction; the requester's come first. They keep this form in every
 * version.
 *
 * <pre>
 *  0       8        10       12     14    16        20       24       40        56    64
 *  +-------+--------+--------+------+-----+---------+--------+--------+---------+-----+
 *  | magic | version|verdict | fault| 0   | required| offered| sender | expected| 0   |
 *  +-------+--------+--------+------+-----+---------+--------+--------+---------+-----+
 * </pre>
 *
 * @param version the sender's version of the protocol
 * @param refused the owner will serve nothing on this connection, and closes it
 * @param fault why; UNKNOWN if it was not refused
 * @param required feature bits that the receiver must understand
 * @param offered feature bits that the sender understands
 * @param sender the sender's transport epoch
 * @param expected the transport epoch that the sender takes the receiver for
 */
record Preface(
    int version,
    boolean refused,
    FaultCode fault,
    int required,
    int offered,
    Epoch sender,
    Epoch expected) {

  /** A preface of this version that refuses nothing. */
  static Preface hello(int required, int offered, Epoch sender, Epoch expected) {
    return new Preface(Wire.VERSION, false, FaultCode.UNKNOWN, required, offered, sender, expected);
  }

  /** Whether the sender offers or requires a feature. */
  boolean has(int feature) {
    return ((offered | required) & feature) != 0;
  }

  /** A preface of this version that refuses. */
  static Preface refusal(FaultCode fault, Epoch sender, Epoch expected) {
    return new Preface(Wire.VERSION, true, fault, 0, Wire.FEATURES, sender, expected);
  }

  void write(MemorySegment to) {
    to.asSlice(0, Wire.PREFACE_BYTES).fill((byte) 0);
    Wire.i64(to, 0, Wire.MAGIC);
    Wire.u16(to, 8, version);
    Wire.u16(to, 10, refused ? 1 : 0);
    Wire.u16(to, 12, refused ? fault.wire() : 0);
    Wire.i32(to, 16, required);
    Wire.i32(to, 20, offered);
    writeEpoch(to, 24, sender);
    writeEpoch(to, 40, expected);
  }

  /**
   * Reads one.
   *
   * @throws ProtocolException if it is no preface of this protocol at all
   */
  static Preface read(MemorySegment from) throws ProtocolException {
    if (Wire.i64(from, 0) != Wire.MAGIC) {
      throw new ProtocolException(
          FaultCode.CORRUPT, "the peer does not speak this protocol: wrong magic");
    }
    int verdict = Wire.u16(from, 10);
    if (verdict > 1 || Wire.u16(from, 14) != 0 || Wire.i64(from, 56) != 0) {
      throw new ProtocolException(FaultCode.CORRUPT, "malformed preface");
    }
    return new Preface(
        Wire.u16(from, 8),
        verdict == 1,
        FaultCode.ofWire(Wire.u16(from, 12)),
        Wire.i32(from, 16),
        Wire.i32(from, 20),
        readEpoch(from, 24),
        readEpoch(from, 40));
  }

  /**
   * Checks that the two sides can talk.
   *
   * @throws ProtocolException UNSUPPORTED, naming both versions or both sets of features
   */
  void checkCompatible() throws ProtocolException {
    if (version != Wire.VERSION) {
      throw new ProtocolException(
          FaultCode.UNSUPPORTED,
          "the peer speaks version "
              + version
              + " of the protocol, this side version "
              + Wire.VERSION
              + "; run the same release on both");
    }
    if ((required & ~Wire.FEATURES) != 0) {
      throw new ProtocolException(
          FaultCode.UNSUPPORTED,
          "the peer requires features 0x"
              + Integer.toHexString(required)
              + ", this side understands 0x"
              + Integer.toHexString(Wire.FEATURES)
              + "; run the same release on both");
    }
  }

  /**
   * The requester's half: says hello and checks the answer.
   *
   * @param buffer for both prefaces, one after the other
   * @param required feature bits
   * @return the owner's
   * @throws ProtocolException if the owner refuses, is another incarnation, or can not be
   *     understood
   */
  static Preface exchange(
      TcpStream stream, MemorySegment buffer, int required, Epoch own, Epoch owner)
      throws ProtocolException {
    hello(required, Wire.FEATURES, own, owner).write(buffer);
    stream.sendFully(buffer, 0, Wire.PREFACE_BYTES);
    if (stream.receive(buffer, 0, Wire.PREFACE_BYTES, true) < Wire.PREFACE_BYTES) {
      throw new ProtocolException(FaultCode.PEER_LOST, "closed by the peer before its preface");
    }
    Preface theirs = read(buffer);
    theirs.checkCompatible();
    if (theirs.refused()) {
      throw new ProtocolException(theirs.fault(), "connection refused: " + theirs.fault());
    }
    if (!theirs.sender().equals(owner) || !theirs.expected().equals(own)) {
      throw new ProtocolException(
          FaultCode.STALE_EPOCH, "the peer answers with transport epoch " + theirs.sender());
    }
    return theirs;
  }

  static Epoch readEpoch(MemorySegment from, long at) {
    return new Epoch(Wire.i64(from, at), Wire.i64(from, at + 8));
  }

  static void writeEpoch(MemorySegment to, long at, Epoch epoch) {
    Wire.i64(to, at, epoch.high());
    Wire.i64(to, at + 8, epoch.low());
  }
}
