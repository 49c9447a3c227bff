package io.orbitkv.manager.transfer;

import io.orbitkv.adapter.BlockName;
import java.util.ArrayList;
import java.util.Arrays;
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
 * Which peer has which block: all peers are asked at once; the first of them that has it counts.
 */
final class OwnerSearch {
  private static final Logger LOG = LoggerFactory.getLogger(OwnerSearch.class);

  private final RemotePeers.@Nullable RemotePeer[] owners;
  private final long[] bytes;

  private OwnerSearch(int names) {
    owners = new RemotePeers.RemotePeer[names];
    bytes = new long[names];
    Arrays.fill(bytes, -1);
  }

  static OwnerSearch run(
      List<RemotePeers.RemotePeer> peers, List<BlockName> names, LongSupplier remainingNanos)
      throws InterruptedException {
    OwnerSearch search = new OwnerSearch(names.size());
    if (names.isEmpty()) {
      return search;
    }
    List<CompletableFuture<long[]>> asked = new ArrayList<>();
    for (RemotePeers.RemotePeer peer : peers) {
      asked.add(peer.link().locate(names));
    }
    for (int i = 0; i < peers.size(); i++) {
      try {
        search.merge(
            peers.get(i), asked.get(i).get(remainingNanos.getAsLong(), TimeUnit.NANOSECONDS));
      } catch (TimeoutException | ExecutionException e) {
        LOG.debug("peer {} did not say what it has: a miss", peers.get(i).link().address(), e);
      }
    }
    return search;
  }

  /** The peer that has the name, or null. */
  RemotePeers.@Nullable RemotePeer owner(int name) {
    return owners[name];
  }

  /** Length of the block, bytes; -1 if nobody has it. */
  long bytes(int name) {
    return bytes[name];
  }

  private void merge(RemotePeers.RemotePeer peer, long[] lengths) {
    for (int i = 0; i < Math.min(lengths.length, owners.length); i++) {
      if (owners[i] == null && lengths[i] > 0) {
        owners[i] = peer;
        bytes[i] = lengths[i];
      }
    }
  }
}
