package io.orbitkv.api;

/**
 * What went wrong, as a stable code. Append-only: a wire number, once given, keeps its meaning;
 * numbers that this version does not know read as {@link #UNKNOWN}. Each code says, by its {@link
 * Retry}, what a caller may do next.
 */
public enum FaultCode {
  /** A code of a newer peer, or a failure that nothing classified. */
  UNKNOWN(0, Retry.NEVER),
  /** An argument or a frame breaks its contract: out of bounds, overflow, malformed. */
  INVALID(1, Retry.NEVER),
  /** The provider or version cannot do this, and says so before any side effect. */
  UNSUPPORTED(2, Retry.NEVER),
  /** The caller has no right to it: wrong token, wrong user, grant of another peer. */
  DENIED(3, Retry.NEVER),
  /** No such block, grant, registration or session. */
  NOT_FOUND(4, Retry.NEVER),
  /** A limit is reached; nothing was done. The same call may succeed once others have ended. */
  EXHAUSTED(5, Retry.SAME_CALL),
  /** The object is held by work that is not drained; it stays as it was. */
  IN_USE(6, Retry.SAME_CALL),
  /** The request names an earlier incarnation of a Manager or a transport. */
  STALE_EPOCH(7, Retry.AFTER_NEW_GRANT),
  /** The request names an earlier use of an id. */
  STALE_GENERATION(8, Retry.AFTER_NEW_GRANT),
  /** The grant's token is retired: completed, revoked or expired. */
  GRANT_ENDED(9, Retry.AFTER_NEW_GRANT),
  /** The connection to the peer is gone, or it answered nothing in time. */
  PEER_LOST(10, Retry.SAME_CALL),
  /** The answer to an operation whose time was up; says nothing about memory. */
  DEADLINE(11, Retry.NEVER),
  /** The caller asked for the end, and got it. */
  CANCELLED(12, Retry.NEVER),
  /** A device or the operating system refused or failed. */
  DEVICE(13, Retry.NEVER),
  /** Bytes, a digest or a frame are not what they must be. */
  CORRUPT(14, Retry.NEVER),
  /** The object is in quarantine: nothing proves that memory is safe to reuse. */
  QUARANTINED(15, Retry.NEVER),
  /** Admission is closed: the Manager or the transport is on its way down. */
  CLOSING(16, Retry.NEVER),
  /** A defect of this program. */
  INTERNAL(17, Retry.NEVER);

  /** What a caller may do after a fault. */
  public enum Retry {
    /** Not before something else was mended. */
    NEVER,
    /** The same call again, later. */
    SAME_CALL,
    /** Not this call; a new grant must be asked for first. */
    AFTER_NEW_GRANT
  }

  private static final FaultCode[] BY_WIRE = new FaultCode[values().length];

  static {
    for (FaultCode code : values()) {
      if (BY_WIRE[code.wire] != null) {
        throw new AssertionError("two fault codes share the wire number " + code.wire);
      }
      BY_WIRE[code.wire] = code;
    }
  }

  private final int wire;
  private final Retry retry;

  FaultCode(int wire, Retry retry) {
    this.wire = wire;
    this.retry = retry;
  }

  /** The code of a wire number; {@link #UNKNOWN} for one that this version does not know. */
  public static FaultCode ofWire(int wire) {
    return wire >= 0 && wire < BY_WIRE.length ? BY_WIRE[wire] : UNKNOWN;
  }

  /** The stable number that stands for this code on every wire. */
  public int wire() {
    return wire;
  }

  /** What a caller may do next. */
  public Retry retry() {
    return retry;
  }
}
