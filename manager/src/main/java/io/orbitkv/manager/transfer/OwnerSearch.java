package io.orbitkv.manager.transfer;

import io.orbitkv.adapter.BlockName;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which peer has which block: all peers are asked at once. The first of them that has it counts,
 * the others are there in case its copy is not what was published. It is over when all have
 * answered, or each block has been found. Thread-safe.
 */
final class OwnerSearch {
  private static final Logger LOG = LoggerFactory.getLogger(OwnerSearch.class);

  /**
   * Who has a block.
   *
   * @param bytes its length there
   */
  record Candidate(RemotePeers.RemotePeer owner, long bytes) {}

  private final List<RemotePeers.RemotePeer> peers;
  private final Map<BlockName, Integer> names = new HashMap<>();
  private final CompletableFuture<Void> over = new CompletableFuture<>();
  private final CompletableFuture<Void> allAnswered = new CompletableFuture<>();

  // Guarded by this.
  private final Map<Integer, long[]> lengths = new HashMap<>();
  private int unanswered;

  private OwnerSearch(List<RemotePeers.RemotePeer> peers, List<BlockName> names) {
    this.peers = peers;
    names.forEach(name -> this.names.put(name, this.names.size()));
    this.unanswered = peers.size();
  }

  /** One that asked nobody, and knows of no block. */
  static OwnerSearch ofNothing() {
    return begin(List.of(), List.of());
  }

  /** Asks the peers; does not wait for them. */
  static OwnerSearch begin(List<RemotePeers.RemotePeer> peers, List<BlockName> names) {
    List<BlockName> distinct = names.stream().distinct().toList();
    OwnerSearch search = new OwnerSearch(peers, distinct);
    if (peers.isEmpty() || distinct.isEmpty()) {
      search.over.complete(null);
      search.allAnswered.complete(null);
      return search;
    }
    for (int i = 0; i < peers.size(); i++) {
      int peer = i;
      var _ =
          peers
              .get(i)
              .link()
              .locate(distinct)
              .whenComplete((found, failure) -> search.answered(peer, found, failure));
    }
    return search;
  }

  /** Completes, never exceptionally, when the search is over; a request has a timeout. */
  CompletableFuture<Void> over() {
    return over;
  }

  /** Completes, never exceptionally, when no peer is going to say more. */
  CompletableFuture<Void> allAnswered() {
    return allAnswered;
  }

  /** The first peer that has the name and is none of some, or null. */
  @Nullable Candidate first(BlockName name, Set<RemotePeers.RemotePeer> but) {
    return first(names.getOrDefault(name, -1), but);
  }

  private void answered(int peer, long @Nullable [] found, @Nullable Throwable failure) {
    if (failure != null) {
      LOG.debug("peer {} did not say what it has", peers.get(peer).link().address(), failure);
    }
    boolean all;
    boolean enough;
    synchronized (this) {
      if (found != null) {
        lengths.put(peer, found);
      }
      all = --unanswered == 0;
      enough = all || foundAll();
    }
    if (all) {
      allAnswered.complete(null);
    }
    if (enough) {
      over.complete(null);
    }
  }

  private boolean foundAll() {
    for (int name = 0; name < names.size(); name++) {
      if (first(name, Set.of()) == null) {
        return false;
      }
    }
    return true;
  }

  private synchronized @Nullable Candidate first(int name, Set<RemotePeers.RemotePeer> but) {
    for (int i = 0; name >= 0 && i < peers.size(); i++) {
      long[] there = lengths.get(i);
      if (there != null && name < there.length && there[name] > 0 && !but.contains(peers.get(i))) {
        return new Candidate(peers.get(i), there[name]);
      }
    }
    return null;
  }
}
