package io.orbitkv.adapter.wire;

import org.jspecify.annotations.Nullable;

/** What a {@link Command} asks, or answers. Append-only; answers have the top bit. */
public enum Opcode {
  /** Asks for an answer, nothing else; answered by {@link #PONG}. */
  PING(0x0000),
  /** Asks for blocks: {@link Names}; answered by {@link #QUERY_ANSWER}. */
  QUERY(0x0001),
  /** Gives a lease back; answered by {@link #RELEASE_ANSWER}. */
  RELEASE(0x0002),
  /** Hands blocks over: {@link PublishEntry}; answered by {@link #PUBLISH_ANSWER}. */
  PUBLISH(0x0003),
  /** Answer to {@link #PING}. */
  PONG(0x8000),
  /** A leased read: {@link ReadEntry}. */
  QUERY_ANSWER(0x8001),
  /** The lease is given back. */
  RELEASE_ANSWER(0x8002),
  /** What became of each block: {@link PublishEntry} answers. */
  PUBLISH_ANSWER(0x8003),
  /** The whole command was refused, before any side effect; scalar 0 is the fault code. */
  REFUSAL(0xffff);

  private final int wire;

  Opcode(int wire) {
    this.wire = wire;
  }

  /** The stable number. */
  public int wire() {
    return wire;
  }

  /** The opcode of a number; null if this version does not know it. */
  public static @Nullable Opcode ofWire(int wire) {
    for (Opcode opcode : values()) {
      if (opcode.wire == wire) {
        return opcode;
      }
    }
    return null;
  }
}
