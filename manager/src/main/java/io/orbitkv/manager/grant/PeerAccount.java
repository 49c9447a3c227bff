package io.orbitkv.manager.grant;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;

/** What one peer's grants hold at this owner. Guarded by the {@link GrantAuthority}. */
final class PeerAccount {
  private int grants;
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
  }

  /** Whether so many bytes more may be pinned now. */
  boolean fits(GrantLimits limits, long bytes) {
    return bytes <= limits.maxPinnedBytesPerPeer() - pinnedBytes;
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

  void add(long bytes) {
    grants++;
    pinnedBytes += bytes;
  }

  void remove(long bytes) {
    grants--;
    pinnedBytes -= bytes;
  }

  boolean empty() {
    return grants == 0;
  }
}
