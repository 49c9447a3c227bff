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
import java.util.ArrayList;
import java.util.List;
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
  private final TicketId firstTicket;
  private final CompletableFuture<Outcome> ended = new CompletableFuture<>();

  private final PartMemory memory;

  // Guarded by this.
  private Set<WantedBlock> rejected = Set.of();
  private final List<TicketId> submitted = new ArrayList<>();
  private @Nullable CompletableFuture<GrantOffer> asked;
  private @Nullable GrantOffer granted;
  private long grantNanos;
  private long submittedNanos;
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
    this.firstTicket = context.tickets().nextId();
    this.memory = new PartMemory(context, owner.link().address(), this.wanted, guess, firstTicket);
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

  /** Pins the destination, as far as it is known. Throws if there is no room; nothing is held. */
  void reserve() {
    try {
      memory.reserve();
    } catch (TransportException e) {
      fail(new Outcome.Failed(e.code(), String.valueOf(e.getMessage())));
      finish();
      throw e;
    } catch (RuntimeException | Error e) {
      fail(new Outcome.Failed(FaultCode.INTERNAL, e.toString()));
      finish();
      throw e;
    }
  }

  /** Asks the owner, which pins the source. Under the first ticket's id, so safe to repeat. */
  CompletableFuture<GrantOffer> askGrant() {
    long begun = System.nanoTime();
    CompletableFuture<GrantOffer> future =
        owner
            .link()
            .authorize(
                new GrantRequest(
                    firstTicket,
                    context.transportEpoch(),
                    owner.hello().transportEpoch(),
                    wanted.stream().map(WantedBlock::name).toList()))
            // Not when it is submitted: it may wait for others to be read.
            .thenApply(offer -> answered(offer, System.nanoTime() - begun));
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
      submittedNanos = System.nanoTime();
      open = 1;
    }
    try {
      RemoteRegion source = owner.peer().importRegion(offer.wireForm());
      List<PlannedTicket> plan = memory.plan(offer, source);
      leftOut = memory.giveUpLeftOut(offer);
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
      // Once: it may be abandoned by its pipeline, and again by its operation.
      asked = null;
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

  private synchronized GrantOffer answered(GrantOffer offer, long nanos) {
    grantNanos = nanos;
    return offer;
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

  /**
   * No ticket can touch the part's memory: tell the owner, seal what completed, give the rest up.
   */
  private void finish() {
    boolean good;
    GrantOffer done;
    synchronized (this) {
      if (finished) {
        return;
      }
      finished = true;
      good = outcome.completed();
      done = granted;
      if (good && done != null) {
        context.times().add(grantNanos, System.nanoTime() - submittedNanos);
      }
    }
    boolean check = good && memory.hasDigests();
    if (!check) {
      // Somebody waits for the blocks, nobody for the word to the owner.
      settle(good);
    }
    if (done != null) {
      complete(done);
    }
    if (!check) {
      return;
    }
    if (!context.digests().submit(this::check)) {
      // On its way down, or out of threads: what can not be compared is not let through.
      reject(memory.withDigest());
    }
  }

  /** Reads every byte: not for a thread that drains, nor under its locks. */
  private void check() {
    Set<WantedBlock> bad;
    try {
      bad = memory.mismatched();
    } catch (RuntimeException | Error e) {
      LOG.error("part {} of {} can not be checked", firstTicket, owner.link().address(), e);
      bad = memory.withDigest();
    }
    reject(bad);
  }

  private void reject(Set<WantedBlock> bad) {
    synchronized (this) {
      rejected = bad;
    }
    settle(true);
  }

  private void settle(boolean good) {
    if (good) {
      memory.seal(rejected(), leaseHolder, sink::take);
    } else {
      memory.giveUp();
    }
    ended.complete(outcome());
  }

  private synchronized Outcome outcome() {
    return outcome;
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
