package io.orbitkv.manager.transfer;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.manager.local.BlockService.Origin;
import io.orbitkv.manager.local.BlockService.ReadOptions;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One read that an engine asked for: takes what is local, fetches the rest from peers, and is
 * answered once, by its deadline, with what came. A failure of the cache is a miss.
 *
 * <p>Runs in one thread; blocks come in from the threads of the transfer.
 */
final class FetchOperation implements PartRead.Sink {
  private static final Logger LOG = LoggerFactory.getLogger(FetchOperation.class);

  /** One block that was found. */
  record Found(int index, Origin origin, Hold hold) {}

  private final FetchContext context;
  private final InFlightNames inFlight;
  private final List<BlockName> names;
  private final ReadOptions options;
  private final Object leaseHolder;
  private final Map<BlockName, Integer> firstIndex = new HashMap<>();
  private final @Nullable Hold[] holds;
  private final Origin[] origins;
  private boolean answered;

  FetchOperation(
      FetchContext context,
      InFlightNames inFlight,
      List<BlockName> names,
      ReadOptions options,
      Object leaseHolder) {
    this.context = context;
    this.inFlight = inFlight;
    this.names = names;
    this.options = options;
    this.leaseHolder = leaseHolder;
    this.holds = new Hold[names.size()];
    this.origins = new Origin[names.size()];
  }

  /** Holds what is local now. Returns whether nothing is missing. */
  boolean takeLocal() {
    boolean all = true;
    for (int i = 0; i < names.size(); i++) {
      all &= takeLocal(i, Origin.LOCAL);
    }
    return all;
  }

  /** Fetches what is missing, until all came, nothing more can come, or the deadline. */
  void fetch(List<RemotePeers.RemotePeer> peers) {
    Map<Integer, CompletableFuture<Void>> elsewhere = new LinkedHashMap<>();
    Set<BlockName> claimed = new HashSet<>();
    try {
      try {
        List<Integer> wanted = wanted();
        OwnerSearch search =
            OwnerSearch.run(peers, wanted.stream().map(names::get).toList(), this::remainingNanos);
        new PartPipeline(context, this, leaseHolder, options, search)
            .run(plan(wanted, search, claimed, elsewhere));
      } finally {
        // Before the wait: two operations may wait for each other's names.
        inFlight.release(claimed);
      }
      awaitOthers(elsewhere);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the collection: what was found, cut at the first miss if a prefix was asked for. */
  List<Found> answer() {
    List<Found> found = new ArrayList<>();
    Set<Hold> kept = new HashSet<>();
    Set<Hold> surplus = new HashSet<>();
    synchronized (this) {
      answered = true;
      boolean cut = false;
      for (int i = 0; i < holds.length; i++) {
        Hold hold = holds[i];
        if (hold == null) {
          cut |= options.prefix();
        } else if (cut) {
          surplus.add(hold);
        } else {
          found.add(new Found(i, origins[i], hold));
          kept.add(hold);
        }
      }
    }
    surplus.removeAll(kept);
    surplus.forEach(Hold::end);
    return found;
  }

  @Override
  public synchronized boolean take(WantedBlock block, Hold hold) {
    if (answered || holds[block.index()] != null) {
      return false;
    }
    holds[block.index()] = hold;
    origins[block.index()] = Origin.PEER;
    return true;
  }

  /** Holds one block; a name that was asked for twice shares its one hold. */
  private boolean takeLocal(int index, Origin origin) {
    Hold hold = holdOfSameName(index);
    if (hold == null) {
      hold = context.catalog().hold(names.get(index), HoldKind.LEASE, leaseHolder).orElse(null);
    }
    if (hold == null) {
      return false;
    }
    synchronized (this) {
      holds[index] = hold;
      origins[index] = origin;
    }
    return true;
  }

  private synchronized @Nullable Hold holdOfSameName(int index) {
    Integer first = firstIndex.putIfAbsent(names.get(index), index);
    return first == null || first == index ? null : holds[first];
  }

  private synchronized boolean missing(int index) {
    return holds[index] == null;
  }

  private List<Integer> wanted() {
    List<Integer> wanted = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      if (missing(i)) {
        wanted.add(i);
      }
    }
    return wanted;
  }

  private List<PartPlanner.Part> plan(
      List<Integer> wanted,
      OwnerSearch search,
      Set<BlockName> claimed,
      Map<Integer, CompletableFuture<Void>> elsewhere) {
    PartPlanner planner = new PartPlanner(context.limits());
    for (int i = 0; i < wanted.size(); i++) {
      int index = wanted.get(i);
      if (claimed.contains(names.get(index))) {
        elsewhere.put(index, CompletableFuture.completedFuture(null));
        continue;
      }
      CompletableFuture<Void> other = inFlight.claim(names.get(index));
      if (other != null) {
        elsewhere.put(index, other);
        continue;
      }
      claimed.add(names.get(index));
      // Another operation may have sealed it between the look and the claim.
      if (takeLocal(index, Origin.PEER)) {
        continue;
      }
      OwnerSearch.Candidate found = search.first(i);
      if (found != null) {
        planner.add(found.owner(), new WantedBlock(index, names.get(index), found.bytes()));
      } else if (options.prefix()) {
        break;
      }
    }
    return planner.parts();
  }

  private void awaitOthers(Map<Integer, CompletableFuture<Void>> elsewhere)
      throws InterruptedException {
    for (Map.Entry<Integer, CompletableFuture<Void>> entry : elsewhere.entrySet()) {
      try {
        entry.getValue().get(remainingNanos(), TimeUnit.NANOSECONDS);
      } catch (TimeoutException | ExecutionException e) {
        LOG.info("the deadline of a read passed while another operation fetched its block");
      }
      if (missing(entry.getKey()) && !takeLocal(entry.getKey(), Origin.PEER) && options.prefix()) {
        return;
      }
    }
  }

  private long remainingNanos() {
    return Math.max(0, options.deadlineNanos() - System.nanoTime());
  }
}
