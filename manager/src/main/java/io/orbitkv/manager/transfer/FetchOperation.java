package io.orbitkv.manager.transfer;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.manager.local.BlockService.Origin;
import io.orbitkv.manager.local.BlockService.ReadOptions;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One read that an engine asked for: takes what is local, fetches the rest from peers, and is
 * answered once, by its deadline, with what came. A failure of the cache is a miss.
 *
 * <p>What is to be fetched is first asked for where the last blocks of its namespace came from, by
 * a grant and without a look-up; what has not come by that is looked for at all peers. It has no
 * thread: its steps run on its strand, in the threads that its events come from.
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

  /** What a peer has sent, also if nobody waits for it any more; written by any thread. */
  private final Set<BlockName> brought = ConcurrentHashMap.newKeySet();

  // Of the strand.
  private final Strand strand = new Strand();
  private final Set<BlockName> claimed = new HashSet<>();
  private final Set<Integer> mine = new HashSet<>();
  private final TreeMap<Integer, CompletableFuture<Boolean>> elsewhere = new TreeMap<>();
  private final Set<Integer> failed = new HashSet<>();
  private final Map<Integer, Set<RemotePeers.RemotePeer>> rejected = new HashMap<>();
  private List<RemotePeers.RemotePeer> peers = List.of();
  private @Nullable OwnerSearch search;
  private @Nullable PartPipeline pipeline;
  private @Nullable Future<?> deadline;
  private @Nullable Runnable whenOver;
  private boolean over;

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

  /** Whether it may ask peers. */
  boolean fetches() {
    return options.fetch();
  }

  /** Holds what is local now. Returns whether nothing is missing. */
  boolean takeLocal() {
    boolean all = true;
    for (int i = 0; i < names.size(); i++) {
      all &= takeLocal(i, Origin.LOCAL);
    }
    return all;
  }

  /**
   * Fetches what is missing, until all came, nothing more can come, or the deadline.
   *
   * @param whenOver runs then, once, in whatever thread this ends in; must not block
   */
  void fetch(List<RemotePeers.RemotePeer> up, BlockReader.Fetching fetching, Runnable whenOver) {
    strand.execute(
        () -> {
          this.peers = up;
          this.whenOver = whenOver;
          step(() -> begin(fetching));
        });
  }

  /** Fetches no further: the operation is answered with what has come. */
  void stop() {
    strand.execute(this::end);
  }

  /** Runs a step on the strand; a defect in it is a miss to the engine. */
  void step(Runnable step) {
    if (over) {
      return;
    }
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.error("a fetch failed", e);
      end();
    }
  }

  /** The owner's copy of this block is not what was published: it is not asked for there again. */
  void rejectedBy(WantedBlock block, RemotePeers.RemotePeer owner) {
    rejected.computeIfAbsent(block.index(), _ -> new HashSet<>()).add(owner);
  }

  /** The owners whose copy of a block is not what was published. */
  Set<RemotePeers.RemotePeer> rejectedAt(int index) {
    return rejected.getOrDefault(index, Set.of());
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
    brought.add(block.name());
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

  private void begin(BlockReader.Fetching fetching) {
    try {
      deadline =
          fetching
              .timer()
              .schedule(
                  () -> strand.execute(() -> step(this::expire)),
                  Math.max(0, options.deadlineNanos() - System.nanoTime()),
                  TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // This Manager is on its way down: what is local is all that there is.
      end();
      return;
    }
    List<PartPlanner.Part> guesses = guess(fetching.hints());
    if (guesses.isEmpty()) {
      search(fetching);
      return;
    }
    pipeline =
        new PartPipeline(
            context,
            this,
            leaseHolder,
            options,
            OwnerSearch.ofNothing(),
            options.prefix() ? PartRead.Guess.PREFIX : PartRead.Guess.ANY,
            fetching,
            strand,
            new PartPipeline.Events() {
              @Override
              public void guessedWrong() {
                // What the peers have is found out while the rest is read.
                ask();
              }

              @Override
              public void over() {
                failed.addAll(running().failed());
                search(fetching);
              }
            });
    pipeline.run(guesses);
  }

  /** Where the blocks are likely to be. */
  private List<PartPlanner.Part> guess(OwnerHints hints) {
    PartPlanner planner = new PartPlanner(context.limits());
    for (int i = 0; i < names.size(); i++) {
      if (!missing(i)) {
        continue;
      }
      OwnerHints.Hint hint = hints.of(names.get(i));
      if (hint != null && peers.contains(hint.owner())) {
        if (claim(i) && missing(i)) {
          planner.add(hint.owner(), new WantedBlock(i, names.get(i), hint.bytes()));
        }
      } else if (options.prefix()) {
        break;
      }
    }
    return planner.parts();
  }

  /** Asks the peers what they have of what is missing now; once. */
  private OwnerSearch ask() {
    OwnerSearch asked = search;
    if (asked == null) {
      List<BlockName> wanted = new ArrayList<>();
      for (int i = 0; i < names.size(); i++) {
        if (missing(i) && !elsewhere.containsKey(i) && !failed.contains(i)) {
          wanted.add(names.get(i));
        }
      }
      asked = OwnerSearch.begin(peers, wanted);
      search = asked;
    }
    return asked;
  }

  private void search(BlockReader.Fetching fetching) {
    OwnerSearch asked = ask();
    if (asked.over().isDone()) {
      read(asked, fetching);
    } else {
      var _ = asked.over().thenRun(() -> strand.execute(() -> step(() -> read(asked, fetching))));
    }
  }

  private void read(OwnerSearch found, BlockReader.Fetching fetching) {
    pipeline =
        new PartPipeline(
            context,
            this,
            leaseHolder,
            options,
            found,
            PartRead.Guess.NONE,
            fetching,
            strand,
            new PartPipeline.Events() {
              @Override
              public void guessedWrong() {}

              @Override
              public void over() {
                // Before the wait: two operations may wait for each other's names.
                inFlight.release(claimed, brought);
                claimed.clear();
                awaitOthers();
              }
            });
    pipeline.run(plan(found));
  }

  private PartPipeline running() {
    return Objects.requireNonNull(pipeline);
  }

  private List<PartPlanner.Part> plan(OwnerSearch search) {
    PartPlanner planner = new PartPlanner(context.limits());
    for (int i = 0; i < names.size(); i++) {
      BlockName name = names.get(i);
      if (!missing(i) || elsewhere.containsKey(i) || !(mine.contains(i) || claim(i))) {
        continue;
      }
      if (!missing(i)) {
        continue;
      }
      OwnerSearch.Candidate found = failed.contains(i) ? null : search.first(name, rejectedAt(i));
      if (found != null) {
        planner.add(found.owner(), new WantedBlock(i, name, found.bytes()));
      } else if (options.prefix()) {
        break;
      }
    }
    return planner.parts();
  }

  /** Whether this operation is to fetch the block, unless it has come by now. */
  private boolean claim(int index) {
    BlockName name = names.get(index);
    // Of a name that is asked for twice this operation's own claim, which is released before it
    // waits.
    CompletableFuture<Boolean> other = inFlight.claim(name);
    if (other != null) {
      elsewhere.put(index, other);
      return false;
    }
    claimed.add(name);
    mine.add(index);
    // It may have come between the look and the claim: published, or, which is not told apart,
    // fetched by another operation.
    takeLocal(index, Origin.LOCAL);
    return true;
  }

  private void awaitOthers() {
    while (!elsewhere.isEmpty()) {
      Map.Entry<Integer, CompletableFuture<Boolean>> next = elsewhere.firstEntry();
      if (!next.getValue().isDone()) {
        var _ = next.getValue().thenRun(() -> strand.execute(() -> step(this::awaitOthers)));
        return;
      }
      int index = next.getKey();
      elsewhere.remove(index);
      // Published meanwhile, perhaps, while a peer was asked that sent nothing.
      Origin origin = next.getValue().join() ? Origin.PEER : Origin.LOCAL;
      if (missing(index) && !takeLocal(index, origin) && options.prefix()) {
        break;
      }
    }
    end();
  }

  private void expire() {
    LOG.info("the deadline of a read passed before all its blocks came; the rest is a miss");
    end();
  }

  /** Once: whatever has not come by now is a miss. */
  private void end() {
    if (over) {
      return;
    }
    over = true;
    if (deadline != null) {
      deadline.cancel(false);
    }
    try {
      if (pipeline != null) {
        pipeline.abandon();
      }
    } finally {
      inFlight.release(claimed, brought);
      if (whenOver != null) {
        whenOver.run();
      }
    }
  }
}
