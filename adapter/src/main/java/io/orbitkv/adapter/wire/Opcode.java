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
  /** Asks for a plan of a lease's blocks: {@link RestoreRequest}; answered by {@link #PLAN}. */
  RESTORE(0x0004),
  /** Asks whether a request is pending; answered by {@link #POLL_ANSWER}. */
  POLL(0x0005),
  /** Takes a pending request back; answered by {@link #CANCEL_ANSWER}. */
  CANCEL(0x0006),
  /** Takes a plan back; answered by {@link #CANCEL_PLAN_ANSWER}. */
  CANCEL_PLAN(0x0007),
  /** Says that a claim has ended; answered by {@link #RESTORE_ENDED_ANSWER}. */
  RESTORE_ENDED(0x0008),
  /** Asks how a plan stands; answered by {@link #OBSERVE_ANSWER}. */
  OBSERVE(0x0009),
  /** Shortens a promise; answered by {@link #PLAN} or {@link #CANCEL_PLAN_ANSWER}. */
  REVISE(0x000a),
  /** Answer to {@link #PING}. */
  PONG(0x8000),
  /** A leased read: {@link ReadEntry}. */
  QUERY_ANSWER(0x8001),
  /** The lease is given back. */
  RELEASE_ANSWER(0x8002),
  /** What became of each block: {@link PublishEntry} answers. */
  PUBLISH_ANSWER(0x8003),
  /** A plan was granted: {@link ReadEntry}. */
  PLAN(0x8004),
  /** How a request stands. */
  POLL_ANSWER(0x8005),
  /** Whether a request was taken back. */
  CANCEL_ANSWER(0x8006),
  /** Whether a plan was taken back. */
  CANCEL_PLAN_ANSWER(0x8007),
  /** How the plan stands. */
  RESTORE_ENDED_ANSWER(0x8008),
  /** How a plan stands, and which evidence ended it. */
  OBSERVE_ANSWER(0x8009),
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
