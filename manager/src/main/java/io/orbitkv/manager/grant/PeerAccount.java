package io.orbitkv.manager.grant;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;

/** What one peer's grants hold at this owner. Guarded by the {@link GrantAuthority}. */
final class PeerAccount {
  /** Blocks pinned at once for one peer: each costs the owner memory of its own. */
  private static final int MAX_PINS = 65_536;

  private int grants;
  private int pins;
  private long pinnedBytes;

  /** Refuses a grant beyond the limit, before anything is pinned. */
  void check(String peer, GrantLimits limits) {
    if (grants >= limits.maxGrantsPerPeer()) {
      throw new TransportException(
          FaultCode.EXHAUSTED,
          peer
              + " has "
              + grants
              + " grants open, the limit of --max-grants-per-peer; it must complete some first");
    }
    if (pins >= MAX_PINS) {
      throw new TransportException(
          FaultCode.EXHAUSTED,
          peer + " has " + pins + " blocks pinned, the limit; it must complete some grants first");
    }
  }

  /** Whether so many bytes more may be pinned now. */
  boolean fits(GrantLimits limits, long bytes, int morePins) {
    return bytes <= limits.maxPinnedBytesPerPeer() - pinnedBytes && pins + morePins <= MAX_PINS;
  }

  /** The refusal when not even the first block fits. */
  TransportException full(String peer, GrantLimits limits, long bytes) {
    boolean never = bytes > limits.maxPinnedBytesPerPeer();
    return new TransportException(
        never ? FaultCode.INVALID : FaultCode.EXHAUSTED,
        peer
            + " has "
            + pinnedBytes
            + " bytes pinned and asks for a block of "
            + bytes
            + "; the limit of --max-pinned-bytes-per-peer is "
            + limits.maxPinnedBytesPerPeer()
            + (never ? ": raise it at the owner" : ": it must complete some grants first"));
  }

  void add(long bytes, int blocks) {
    grants++;
    pins += blocks;
    pinnedBytes += bytes;
  }

  void remove(long bytes, int blocks) {
    grants--;
    pins -= blocks;
    pinnedBytes -= bytes;
  }

  boolean empty() {
    return grants == 0;
  }
}
