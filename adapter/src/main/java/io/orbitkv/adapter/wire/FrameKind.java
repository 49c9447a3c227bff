package io.orbitkv.adapter.wire;

import org.jspecify.annotations.Nullable;

/** What a frame of the socket is. Append-only. */
public enum FrameKind {
  /** Client's first frame: {@link Hello}, with its pidfd. */
  HELLO(1),
  /** Answer to HELLO: {@link Welcome}, with the descriptors of arenas and ring. */
  WELCOME(2),
  /** Answer to any frame that was refused: {@link Refusal}. */
  REFUSED(3),
  /** Offers memory of the engine: {@link MemoryOffer}, with its memfd. */
  REGISTER(4),
  /** Answer to REGISTER: u64 registration id, u64 generation. */
  REGISTERED(5),
  /** Withdraws it: u64 registration id, u64 generation. */
  UNREGISTER(6),
  /** Answer to UNREGISTER, once no copy reads the memory any more; empty. */
  UNREGISTERED(7),
  /** Asks for the Manager's state; empty. */
  STATUS(8),
  /** Answer to STATUS: JSON, UTF-8. */
  STATUS_TEXT(9),
  /** Asks whether the session is served; empty. */
  HEALTH(10),
  /** Answer to HEALTH: u32, 1 while open, 2 while closing. */
  HEALTH_STATE(11),
  /** Ends the session; empty. */
  CLOSE(12),
  /** Answer to CLOSE, after everything else was answered; empty. The connection ends behind it. */
  CLOSED(13);

  private final int wire;

  FrameKind(int wire) {
    this.wire = wire;
  }

  /** The stable number. */
  public int wire() {
    return wire;
  }

  /** The kind of a number; null if this version does not know it. */
  public static @Nullable FrameKind ofWire(int wire) {
    return wire >= 1 && wire <= values().length ? values()[wire - 1] : null;
  }
}
