package io.orbitkv.manager.transfer;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.Completion;
import io.orbitkv.manager.control.GrantOffer;
import io.orbitkv.manager.control.GrantRequest;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One part of a fetch: blocks of one owner, read under one grant, by one ticket or, for a block
 * larger than a READ may be, several. It keeps every hold until its last ticket is drained, and
 * only then seals its blocks or gives their memory up.
 *
 * <p>The operation calls {@link #reserve}, {@link #askGrant}, {@link #submit} in this order on its
 * strand, goes on from {@link #ended()}, and may call {@link #abandon} in between. What follows a
 * submission happens in the threads of the provider and of the {@link DrainCoordinator}.
 */
final class PartRead implements TrackedTicket.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(PartRead.class);

  /** Receives the blocks of a part that completed, each held for the operation. */
  interface Sink {
    /** Takes a block and its hold; false: the operation was answered, the hold is not taken. */
    boolean take(WantedBlock block, Hold hold);
  }

  /** How much is known of the blocks before their grant. */
  enum Guess {
    /** The owner has said that it has them, and how long they are. */
    NONE,
    /** It may have some, of any length. */
    ANY,
    /** As ANY, and those behind the first that it does not have are of no use. */
    PREFIX
  }

  private final FetchContext context;
  private final RemotePeers.RemotePeer owner;
  private final List<WantedBlock> wanted;
  private final Sink sink;
  private final Object leaseHolder;
  private final Guess guess;
  private final TicketId firstTicket;
  private final CompletableFuture<Outcome> ended = new CompletableFuture<>();

  // Guarded by this.
  private final Map<WantedBlock, Hold> filling = new HashMap<>();
  private final Set<WantedBlock> reading = new HashSet<>();
  private final PartDigests digests;
  private Set<WantedBlock> rejected = Set.of();
  private final List<TicketId> submitted = new ArrayList<>();
  private @Nullable CompletableFuture<GrantOffer> asked;
  private @Nullable GrantOffer granted;
  private int open;
  private boolean cancelled;
  private boolean finished;
  private Outcome outcome = Outcome.COMPLETED;
  private Evidence evidence = Evidence.NEVER_SUBMITTED;

  PartRead(
      FetchContext context,
      RemotePeers.RemotePeer owner,
      List<WantedBlock> wanted,
      Sink sink,
      Object leaseHolder) {
    this(context, owner, wanted, sink, leaseHolder, Guess.NONE);
  }

  PartRead(
      FetchContext context,
      RemotePeers.RemotePeer owner,
      List<WantedBlock> wanted,
      Sink sink,
      Object leaseHolder,
      Guess guess) {
    this.context = context;
    this.owner = owner;
    this.wanted = List.copyOf(wanted);
    this.sink = sink;
    this.leaseHolder = leaseHolder;
    this.guess = guess;
    this.firstTicket = context.tickets().nextId();
    this.digests = new PartDigests(context.digests(), owner.link().address());
  }

  /**
   * Completes with COMPLETED when every block is in place, drained and sealed, or {@link
   * #rejected()}; with another outcome as soon as one ticket has it, while memory may still be
   * held.
   */
  CompletableFuture<Outcome> ended() {
    return ended;
  }

  /** Blocks that came whole and are not what was published; their memory was given up. */
  synchronized Set<WantedBlock> rejected() {
    return rejected;
  }

  RemotePeers.RemotePeer owner() {
    return owner;
  }

  /**
   * Pins the destination; of a guess only once its grant has come, so that nothing is evicted for
   * blocks that are not there. Throws if there is no room; nothing is held then.
   */
  synchronized void reserve() {
    if (guess != Guess.NONE) {
      return;
    }
    try {
      for (WantedBlock block : wanted) {
        filling.put(block, context.catalog().reserve(block.bytes(), firstTicket));
      }
    } catch (TransportException e) {
      fail(new Outcome.Failed(e.code(), String.valueOf(e.getMessage())));
      finish();
      throw e;
    }
  }

  /** Asks the owner, which pins the source. Under the first ticket's id, so safe to repeat. */
  CompletableFuture<GrantOffer> askGrant() {
    CompletableFuture<GrantOffer> future =
        owner
            .link()
            .authorize(
                new GrantRequest(
                    firstTicket,
                    context.transportEpoch(),
                    owner.hello().transportEpoch(),
                    wanted.stream().map(WantedBlock::name).toList()));
    synchronized (this) {
      asked = future;
    }
    return future;
  }

  /**
   * Submits the tickets of a granted part. What goes wrong is told by {@link #ended()}.
   *
   * @return the blocks that the owner left out; their memory is given up, they are to be asked for
   *     again
   */
  List<WantedBlock> submit(GrantOffer offer) {
    List<WantedBlock> leftOut = List.of();
    synchronized (this) {
      if (finished) {
        return leftOut;
      }
      granted = offer;
      open = 1;
    }
    try {
      RemoteRegion source = owner.peer().importRegion(offer.wireForm());
      List<PlannedTicket> plan = plan(offer, source);
      leftOut = giveUpLeftOut(offer);
      for (PlannedTicket planned : plan) {
        submit(planned);
      }
    } catch (TransportException e) {
      fail(new Outcome.Failed(e.code(), String.valueOf(e.getMessage())));
      cancelSubmitted();
    } catch (RuntimeException | Error e) {
      // A defect, of the provider or here: a miss like any other failure, and loud.
      LOG.error("part {} of {} can not be read", firstTicket, owner.link().address(), e);
      fail(new Outcome.Failed(FaultCode.INTERNAL, e.toString()));
      cancelSubmitted();
    } finally {
      endOne();
    }
    return leftOut;
  }

  /** The operation waits no more. What was submitted is asked to end; its memory stays held. */
  void abandon() {
    fail(Outcome.CANCELLED);
    CompletableFuture<GrantOffer> unanswered;
    synchronized (this) {
      unanswered = granted == null ? asked : null;
    }
    if (unanswered != null) {
      var _ = unanswered.thenAccept(this::complete);
    }
    if (granted() == null) {
      finish();
    } else {
      cancelSubmitted();
    }
  }

  @Override
  public void settled(TrackedTicket ticket, Outcome result) {
    if (!result.completed()) {
      fail(result);
      cancelSubmitted();
    }
  }

  @Override
  public void drained(TrackedTicket ticket, DrainReceipt receipt) {
    synchronized (this) {
      evidence = receipt.evidence();
    }
    endOne();
  }

  private void submit(PlannedTicket planned) {
    TicketId id;
    synchronized (this) {
      if (!outcome.completed()) {
        return;
      }
      id = submitted.isEmpty() ? firstTicket : context.tickets().nextId();
      submitted.add(id);
      open++;
    }
    try {
      List<Hold> destination = planned.hold(context.pool(), id);
      context.tickets().submit(owner.peer(), planned.batch(), id, destination, this);
    } catch (RuntimeException | Error e) {
      endOne();
      throw e;
    }
    if (isCancelled()) {
      // Whoever cancelled the part may have come before this ticket was known.
      context.tickets().cancel(id);
    }
  }

  private synchronized boolean isCancelled() {
    return cancelled;
  }

  private void endOne() {
    boolean last;
    synchronized (this) {
      last = --open == 0;
    }
    if (last) {
      finish();
    }
  }

  private void fail(Outcome result) {
    synchronized (this) {
      if (finished || !outcome.completed()) {
        return;
      }
      outcome = result;
    }
    ended.complete(result);
  }

  /** Once for a part: each ticket that it ends reports here again. */
  private void cancelSubmitted() {
    List<TicketId> ids;
    synchronized (this) {
      if (cancelled) {
        return;
      }
      cancelled = true;
      ids = List.copyOf(submitted);
    }
    ids.forEach(context.tickets()::cancel);
  }

  private synchronized @Nullable GrantOffer granted() {
    return granted;
  }

  private synchronized List<PlannedTicket> plan(GrantOffer offer, RemoteRegion source) {
    TicketPlanner planner = new TicketPlanner(source, context.limits());
    boolean[] seen = new boolean[wanted.size()];
    for (int range = 0; range < offer.ranges().size(); range++) {
      GrantOffer.GrantedRange block = offer.ranges().get(range);
      int index = block.nameIndex();
      if (range >= source.ranges() || index < 0 || index >= wanted.size() || seen[index]) {
        throw new TransportException(
            FaultCode.CORRUPT,
            owner.link().address() + " granted block " + index + ", which was not asked for");
      }
      seen[index] = true;
      WantedBlock want = wanted.get(index);
      if (guess == Guess.PREFIX && index != range) {
        // The grant has them in the order of the request, so one before it is missing.
        break;
      }
      Hold memory = source.length(range) == block.bytes() ? destination(want, block) : null;
      if (memory != null) {
        planner.add(memory.allocation(), range, block.bytes());
        reading.add(want);
        digests.expect(want, block.digest());
      }
    }
    if (reading.isEmpty()) {
      throw new TransportException(
          FaultCode.NOT_FOUND, owner.link().address() + " has none of the blocks any more");
    }
    return planner.plan();
  }

  private @Nullable Hold destination(WantedBlock want, GrantOffer.GrantedRange block) {
    if (guess == Guess.NONE) {
      return block.bytes() == want.bytes() ? filling.get(want) : null;
    }
    if (block.bytes() <= 0) {
      return null;
    }
    Hold memory = context.catalog().reserve(block.bytes(), firstTicket);
    filling.put(want, memory);
    return memory;
  }

  private List<WantedBlock> giveUpLeftOut(GrantOffer offer) {
    Set<Integer> included = new HashSet<>();
    offer.ranges().forEach(range -> included.add(range.nameIndex()));
    List<WantedBlock> leftOut = new ArrayList<>();
    for (int i = 0; i < wanted.size(); i++) {
      Hold memory = included.contains(i) ? null : forget(wanted.get(i));
      if (memory != null) {
        context.catalog().abandon(memory);
        leftOut.add(wanted.get(i));
      }
    }
    return leftOut;
  }

  private synchronized @Nullable Hold forget(WantedBlock block) {
    return filling.remove(block);
  }

  /**
   * No ticket can touch the part's memory: tell the owner, seal what completed, give the rest up.
   */
  private void finish() {
    boolean good;
    boolean check;
    GrantOffer done;
    Map<WantedBlock, Hold> memory;
    synchronized (this) {
      if (finished) {
        return;
      }
      finished = true;
      good = outcome.completed();
      check = good && !digests.isEmpty();
      done = granted;
      memory = new HashMap<>(filling);
      filling.clear();
    }
    if (!check) {
      // Somebody waits for the blocks, nobody for the word to the owner.
      settle(memory, good ? reading : Set.of());
    }
    if (done != null) {
      complete(done);
    }
    if (!check) {
      return;
    }
    if (!context.digests().submit(() -> check(memory))) {
      // On its way down, or out of threads: what can not be compared is not let through.
      reject(memory, digests.all());
    }
  }

  /** Reads every byte: not for a thread that drains, nor under its locks. */
  private void check(Map<WantedBlock, Hold> memory) {
    Set<WantedBlock> bad;
    try {
      bad = digests.mismatched(memory);
    } catch (RuntimeException | Error e) {
      LOG.error("part {} of {} can not be checked", firstTicket, owner.link().address(), e);
      bad = digests.all();
    }
    reject(memory, bad);
  }

  private void reject(Map<WantedBlock, Hold> memory, Set<WantedBlock> bad) {
    Set<WantedBlock> good = new HashSet<>(reading);
    good.removeAll(bad);
    synchronized (this) {
      rejected = bad;
    }
    settle(memory, good);
  }

  private void settle(Map<WantedBlock, Hold> memory, Set<WantedBlock> good) {
    memory.forEach(
        (block, hold) -> {
          if (good.contains(block)) {
            seal(block, hold);
          } else {
            context.catalog().abandon(hold);
          }
        });
    ended.complete(outcome);
  }

  private void seal(WantedBlock block, Hold hold) {
    Hold lease =
        context
            .catalog()
            .sealAndHold(block.name(), hold, digests.of(block), HoldKind.LEASE, leaseHolder);
    if (!sink.take(block, lease)) {
      lease.end();
    }
  }

  private void complete(GrantOffer offer) {
    Completion completion;
    synchronized (this) {
      boolean used = evidence != Evidence.NEVER_SUBMITTED;
      String result = used ? outcome.getClass().getSimpleName() : "NeverSubmitted";
      completion = new Completion(offer.grant(), firstTicket, result, evidence);
    }
    // A lost word is no loss: the grant expires by itself.
    var _ = owner.link().complete(completion);
  }
}
