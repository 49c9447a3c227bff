package io.orbitkv.manager.grant;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;

/** What one peer's grants hold at this owner. Guarded by the {@link GrantAuthority}. */
final class PeerAccount {
  private int grants;
  private long pinnedBytes;

  /** Refuses before anything is pinned. */
  void check(String peer, GrantLimits limits, long moreBytes) {
    if (grants >= limits.maxGrantsPerPeer()) {
      throw new TransportException(
          FaultCode.EXHAUSTED,
          peer
              + " has "
              + grants
              + " grants open, the limit of --max-grants-per-peer; it must complete some first");
    }
    if (moreBytes > limits.maxPinnedBytesPerPeer() - pinnedBytes) {
      throw new TransportException(
          FaultCode.EXHAUSTED,
          peer
              + " has "
              + pinnedBytes
              + " bytes pinned and asks for "
              + moreBytes
              + " more; the limit of --max-pinned-bytes-per-peer is "
              + limits.maxPinnedBytesPerPeer());
    }
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
