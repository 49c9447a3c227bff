package io.orbitkv.api;

/**
 * Why memory is known to be safe. Each constant names an observation, never a wait: time is not
 * evidence, nor is a cancel, a release, an acknowledgement or the end of a lease.
 */
public enum Evidence {
  /** Proven that nothing was handed to a device, a socket or a thread. */
  NEVER_SUBMITTED(1),
  /** A completion was seen for every part of the work: the CQE of each work request, the event. */
  LOCAL_COMPLETION(2),
  /** This process' own threads, system calls and kernel requests have left the range. */
  LOCAL_QUIESCED(3),
  /** The peer's own receipt for its half, its epoch and generation checked. */
  PEER_RECEIPT(4),
  /** The right was withdrawn, and the call that withdrew it has returned. */
  ACCESS_REVOKED(5),
  /** The pidfd of the very process that held the access became readable; it was not inheritable. */
  OWNER_EXITED(6);

  private static final Evidence[] VALUES = values();

  private final int wire;

  Evidence(int wire) {
    this.wire = wire;
  }

  /** The stable number that stands for this evidence on every wire. */
  public int wire() {
    return wire;
  }

  /**
   * The evidence of a wire number.
   *
   * @throws IllegalArgumentException for a number that this version does not know: unknown evidence
   *     proves nothing
   */
  public static Evidence ofWire(int wire) {
    for (Evidence evidence : VALUES) {
      if (evidence.wire == wire) {
        return evidence;
      }
    }
    throw new IllegalArgumentException("unknown evidence number " + wire);
  }

  /** Whether it can only be had while the peer answers. */
  public boolean needsPeer() {
    return this == PEER_RECEIPT;
  }
}
