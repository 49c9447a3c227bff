package io.orbitkv.systemtests.simulation;

import io.orbitkv.api.Epoch;

/** A part of a reply on the wire: read from the source when it was sent. */
final class Chunk {
  private final ReadFrame frame;
  private final Epoch ownerEpoch;
  private final int number;
  private final byte[] bytes;
  private boolean arrived;

  Chunk(ReadFrame frame, Epoch ownerEpoch, int number, byte[] bytes) {
    this.frame = frame;
    this.ownerEpoch = ownerEpoch;
    this.number = number;
    this.bytes = bytes;
  }

  ReadFrame frame() {
    return frame;
  }

  Epoch ownerEpoch() {
    return ownerEpoch;
  }

  int number() {
    return number;
  }

  byte[] bytes() {
    return bytes;
  }

  /** It takes no room on its connection any more. */
  void arrive() {
    if (!arrived) {
      arrived = true;
      frame.connection().arrived();
    }
  }

  @Override
  public String toString() {
    return "chunk " + number + " of the reply to " + frame;
  }
}
