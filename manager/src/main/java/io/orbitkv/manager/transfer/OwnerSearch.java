package io.orbitkv.manager.transfer;

import io.orbitkv.adapter.BlockName;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which peer has which block: all peers are asked at once. The first of them that has it counts,
 * the others are there in case its copy is not what was published.
 */
final class OwnerSearch {
  private static final Logger LOG = LoggerFactory.getLogger(OwnerSearch.class);

  /**
   * Who has a block.
   *
   * @param bytes its length there
   */
  record Candidate(RemotePeers.RemotePeer owner, long bytes) {}

  @SuppressWarnings("ArrayRecordComponent") // read only, never compared
  private record Answer(RemotePeers.RemotePeer peer, long[] lengths) {}

  private final List<BlockName> names;
  private final List<Answer> answers = new ArrayList<>();

  private OwnerSearch(List<BlockName> names) {
    this.names = List.copyOf(names);
  }

  static OwnerSearch run(
      List<RemotePeers.RemotePeer> peers, List<BlockName> names, LongSupplier remainingNanos)
      throws InterruptedException {
    OwnerSearch search = new OwnerSearch(names);
    if (names.isEmpty()) {
      return search;
    }
    List<CompletableFuture<long[]>> asked = new ArrayList<>();
    for (RemotePeers.RemotePeer peer : peers) {
      asked.add(peer.link().locate(names));
    }
    for (int i = 0; i < peers.size(); i++) {
      try {
        long[] lengths = asked.get(i).get(remainingNanos.getAsLong(), TimeUnit.NANOSECONDS);
        search.answers.add(new Answer(peers.get(i), lengths));
      } catch (TimeoutException | ExecutionException e) {
        LOG.debug("peer {} did not say what it has: a miss", peers.get(i).link().address(), e);
      }
    }
    return search;
  }

  /** The first peer that has the name, or null. */
  @Nullable Candidate first(int name) {
    return next(name, 0);
  }

  /** The first peer behind another one that has the name, or null. */
  @Nullable Candidate after(BlockName name, RemotePeers.RemotePeer owner) {
    int index = names.indexOf(name);
    for (int i = 0; index >= 0 && i < answers.size(); i++) {
      if (answers.get(i).peer().equals(owner)) {
        return next(index, i + 1);
      }
    }
    return null;
  }

  private @Nullable Candidate next(int name, int from) {
    for (Answer answer : answers.subList(from, answers.size())) {
      if (name < answer.lengths().length && answer.lengths()[name] > 0) {
        return new Candidate(answer.peer(), answer.lengths()[name]);
      }
    }
    return null;
  }
}
