package io.orbitkv.manager.control;

import io.orbitkv.adapter.BlockName;
import java.util.List;

/**
 * The owner's answers. Called on the control server's event loop: nothing here may block. All
 * methods are thread-safe and idempotent.
 */
public interface ControlService {
  /** What this Manager says of itself now. */
  PeerHello hello();

  /**
   * Decides whether to talk to a peer. Both ends of a stream ask, so it keeps nothing.
   *
   * @throws io.orbitkv.api.TransportException UNSUPPORTED if it has another backend, naming both;
   *     CLOSING while this Manager is on its way down
   */
  void accept(PeerHello peer);

  /**
   * Which of these blocks are here.
   *
   * @return for each name its length in bytes, or -1. A candidate, never a promise
   */
  long[] locate(PeerHello peer, List<BlockName> names);

  /**
   * Grants, in the order of the names, what is here and fits the limits of this peer now.
   *
   * @throws io.orbitkv.api.TransportException NOT_FOUND if none of the blocks is here, STALE_EPOCH,
   *     EXHAUSTED if a limit of this peer leaves room for none of them now, INVALID if the first
   *     one can never fit or a name is repeated, CLOSING; nothing was pinned then
   */
  GrantOffer authorize(PeerHello peer, GrantRequest request);

  /** Retires a grant of this peer. */
  void complete(PeerHello peer, Completion completion);

  /**
   * The peer's last stream has ended, or its transport was replaced: its grants are retired; their
   * memory waits for evidence.
   */
  void peerLost(PeerHello peer);
}
