package io.orbitkv.manager.transfer;

import io.orbitkv.api.GrantId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.manager.control.PeerHello;
import io.orbitkv.manager.control.PeerLink;
import io.orbitkv.manager.control.PeerListener;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The peers that answer now, each with the provider's connection to its transport. A peer whose
 * transport has another epoch than before is another peer. Thread-safe.
 */
public final class RemotePeers implements PeerListener, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RemotePeers.class);

  /**
   * A peer that answers.
   *
   * @param link its control stream
   * @param hello what it said of itself
   * @param peer the provider's side
   */
  record RemotePeer(PeerLink link, PeerHello hello, Peer peer) {}

  /** A peer that does not answer any more, but whose payload connections may still be sound. */
  private record Silent(RemotePeer peer, long sinceNanos) {}

  /** Peers that do not answer and are kept all the same, at most. */
  private static final int MAX_SILENT = 64;

  private final Transport transport;
  private final long silenceNanos;
  private final Map<PeerLink, RemotePeer> peers = new LinkedHashMap<>();
  private final Map<PeerLink, Silent> silent = new LinkedHashMap<>();
  private boolean closed;

  /**
   * No peers yet.
   *
   * @param silenceNanos how long after the end of its control stream a peer's payload connections
   *     are kept, ns: as long as a grant may live
   */
  public RemotePeers(Transport transport, long silenceNanos) {
    this.transport = transport;
    this.silenceNanos = silenceNanos;
  }

  @Override
  public void peerUp(PeerLink link, PeerHello hello) {
    synchronized (this) {
      if (closed) {
        return;
      }
      closeLongSilent();
      RemotePeer before = peers.remove(link);
      Silent quiet = silent.remove(link);
      if (before == null && quiet != null) {
        before = quiet.peer();
      }
      if (before != null && before.hello().transportEpoch().equals(hello.transportEpoch())) {
        peers.put(link, new RemotePeer(link, hello, before.peer()));
        return;
      }
      if (before != null) {
        before.peer().close();
      }
      try {
        Peer peer = transport.connect(hello.endpoint(), hello.transportEpoch(), hello.peerBytes());
        peers.put(link, new RemotePeer(link, hello, peer));
      } catch (TransportException e) {
        LOG.warn(
            "peer {} at {} is not usable: {}", link.address(), hello.endpoint(), e.getMessage());
        return;
      }
    }
    LOG.info(
        "peer up: {} endpoint {} transport epoch {}",
        link.address(),
        hello.endpoint(),
        hello.transportEpoch());
  }

  @Override
  public void peerDown(PeerLink link, PeerHello hello, String reason) {
    synchronized (this) {
      closeLongSilent();
      RemotePeer before = peers.remove(link);
      if (before != null) {
        // Transfers on existing grants go on.
        silent.put(link, new Silent(before, System.nanoTime()));
      }
    }
    LOG.info("peer down: {}: {}", link.address(), reason);
  }

  @Override
  public void grantRevoked(PeerLink link, GrantId grant) {
    // A read under it is refused or fails at the owner; there is nothing to do for it here.
    LOG.debug("grant revoked by {}: {}", link.address(), grant);
  }

  /** Those that answer now, in the order in which they came. */
  synchronized List<RemotePeer> up() {
    return List.copyOf(peers.values());
  }

  /** What the peers that answer now said of themselves. */
  public List<PeerHello> hellos() {
    return up().stream().map(RemotePeer::hello).toList();
  }

  /** Ends the connections of all peers; tickets that are not settled fail. */
  @Override
  public void close() {
    List<RemotePeer> all = new ArrayList<>();
    synchronized (this) {
      closed = true;
      all.addAll(peers.values());
      silent.values().forEach(quiet -> all.add(quiet.peer()));
      peers.clear();
      silent.clear();
    }
    all.forEach(remote -> remote.peer().close());
  }

  private void closeLongSilent() {
    long now = System.nanoTime();
    Iterator<Silent> oldestFirst = silent.values().iterator();
    while (oldestFirst.hasNext()) {
      Silent quiet = oldestFirst.next();
      if (silent.size() >= MAX_SILENT || now - quiet.sinceNanos() > silenceNanos) {
        oldestFirst.remove();
        quiet.peer().peer().close();
      }
    }
  }
}
