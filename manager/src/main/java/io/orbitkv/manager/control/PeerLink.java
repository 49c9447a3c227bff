package io.orbitkv.manager.control;

import io.orbitkv.adapter.BlockName;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The requester's side of the control stream to one peer. It reconnects by itself; a call while
 * there is no stream fails at once. Futures complete exceptionally with a {@link
 * io.orbitkv.api.TransportException} (PEER_LOST when the stream ended or the answer did not come in
 * time, else the owner's code) and are completed on the event loop: continuations must not block.
 */
public interface PeerLink {
  /** The peer's control address, {@code host:port}. */
  String address();

  /** What the peer said of itself on the live stream; empty while there is none. */
  Optional<PeerHello> hello();

  /** As {@link ControlService#locate}. */
  CompletableFuture<long[]> locate(List<BlockName> names);

  /**
   * As {@link ControlService#authorize}; safe to repeat until it was answered. An offer that comes
   * when nobody waits for it any more is given back to the owner by the link itself.
   */
  CompletableFuture<GrantOffer> authorize(GrantRequest request);

  /** As {@link ControlService#complete}; safe to repeat. */
  CompletableFuture<Void> complete(Completion completion);
}
