package io.orbitkv.manager.control;

import io.orbitkv.api.GrantId;

/** Told of what happens to links; on the event loop, must not block. */
public interface PeerListener {
  /**
   * A stream is open and both sides accepted each other. A new incarnation is a new call; so is a
   * replaced transport, behind a {@link #peerDown} of the old one.
   */
  void peerUp(PeerLink link, PeerHello hello);

  /** The stream ended, or the peer's transport was replaced. */
  void peerDown(PeerLink link, PeerHello hello, String reason);

  /** The owner retired a grant by itself: expiry, shutdown. */
  void grantRevoked(PeerLink link, GrantId grant);
}
