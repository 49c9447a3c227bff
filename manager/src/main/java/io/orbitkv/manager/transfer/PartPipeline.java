package io.orbitkv.manager.transfer;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.GrantOffer;
import io.orbitkv.manager.local.BlockService.ReadOptions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the parts of one fetch, in order: the grant of the next part is asked for while others are
 * read. An owner grants as many blocks as its limits allow now; what it left out, or could not
 * grant at all yet, is asked for again when a part has ended, until it is stopped. A block that is
 * not what was published is asked for at the next peer that has it.
 *
 * <p>Everything happens on the operation's strand: it waits for nothing, and goes on when an offer
 * comes, a part ends, or a pause is over.
 */
final class PartPipeline {
  private static final Logger LOG = LoggerFactory.getLogger(PartPipeline.class);
  private static final int GRANTS_AHEAD = 1;
  private static final int PARTS_IN_FLIGHT = 2;
  private static final long FIRST_PAUSE_MILLIS = 1;
  private static final long LAST_PAUSE_MILLIS = 64;

  /** Told on the strand; must not block. */
  interface Events {
    /** A grant has come without some of the blocks that were asked for by a guess. */
    void guessedWrong();

    /** All parts have ended, or no more can come. Last, once, unless it was stopped. */
    void over();
  }

  private record Asked(PartPlanner.Part part, PartRead read, CompletableFuture<GrantOffer> offer) {}

  private record Reading(PartPlanner.Part part, PartRead read) {}

  private final FetchContext context;
  private final FetchOperation operation;
  private final Object leaseHolder;
  private final ReadOptions options;
  private final OwnerSearch owners;
  private final PartRead.Guess guess;
  private final OwnerHints hints;
  private final QuietTimer timer;
  private final Strand strand;
  private final Events events;
  private final Deque<PartPlanner.Part> todo = new ArrayDeque<>();
  private final Deque<Asked> asked = new ArrayDeque<>();
  private final Deque<Reading> reading = new ArrayDeque<>();
  private final Deque<PartRead> rejecting = new ArrayDeque<>();
  private final List<PartRead> all = new ArrayList<>();
  private final Set<Integer> failed = new HashSet<>();
  private long pauseMillis = FIRST_PAUSE_MILLIS;
  private boolean paused;
  private boolean stopped;
  private boolean ended;

  PartPipeline(
      FetchContext context,
      FetchOperation operation,
      Object leaseHolder,
      ReadOptions options,
      OwnerSearch owners,
      PartRead.Guess guess,
      BlockReader.Fetching fetching,
      Strand strand,
      Events events) {
    this.context = context;
    this.operation = operation;
    this.leaseHolder = leaseHolder;
    this.options = options;
    this.owners = owners;
    this.guess = guess;
    this.hints = fetching.hints();
    this.timer = fetching.timer();
    this.strand = strand;
    this.events = events;
  }

  /** Begins. */
  void run(List<PartPlanner.Part> parts) {
    todo.addAll(parts);
    advance();
  }

  /** The operation waits no more: what was submitted is asked to end, nothing is told. */
  void abandon() {
    stopped = true;
    ended = true;
    all.forEach(PartRead::abandon);
  }

  /** The blocks, by their index, whose transfer failed or is not worth another one. */
  Set<Integer> failed() {
    return failed;
  }

  private void advance() {
    while (!ended && !stopped && hasMore()) {
      while (!rejecting.isEmpty() && owners.allAnswered().isDone()) {
        askElsewhere(rejecting.removeFirst());
      }
      ask();
      Asked next = asked.peek();
      Reading oldest = reading.peek();
      if (next != null && next.offer().isDone() && reading.size() < PARTS_IN_FLIGHT) {
        submit(asked.removeFirst());
      } else if (oldest != null && oldest.read().ended().isDone()) {
        end(reading.removeFirst());
      } else if (next != null || oldest != null || paused || !rejecting.isEmpty()) {
        return;
      }
    }
    if (!ended) {
      ended = true;
      all.forEach(PartRead::abandon);
      events.over();
    }
  }

  private boolean hasMore() {
    return !(todo.isEmpty() && asked.isEmpty() && reading.isEmpty() && rejecting.isEmpty());
  }

  private void ask() {
    while (!paused && !todo.isEmpty() && asked.size() <= GRANTS_AHEAD) {
      PartPlanner.Part part = todo.removeFirst();
      PartRead read =
          new PartRead(context, part.owner(), part.blocks(), operation, leaseHolder, guess);
      try {
        read.reserve();
      } catch (TransportException e) {
        LOG.info("a fetch goes no further: {}: {}", e.code(), e.getMessage());
        todo.clear();
        return;
      }
      all.add(read);
      Asked question = new Asked(part, read, read.askGrant());
      asked.addLast(question);
      if (!question.offer().isDone()) {
        var _ = question.offer().whenComplete((_, _) -> strand.execute(this::goOn));
      }
    }
  }

  private void goOn() {
    operation.step(this::advance);
  }

  private void submit(Asked next) {
    GrantOffer offer;
    try {
      offer = next.offer().join();
    } catch (RuntimeException e) {
      next.read().abandon();
      refused(next, e.getCause() == null ? e : e.getCause());
      return;
    }
    pauseMillis = FIRST_PAUSE_MILLIS;
    List<WantedBlock> leftOut = next.read().submit(offer);
    reading.addLast(new Reading(next.part(), next.read()));
    CompletableFuture<Outcome> end = next.read().ended();
    if (!end.isDone()) {
      var _ = end.whenComplete((_, _) -> strand.execute(this::goOn));
    }
    if (!leftOut.isEmpty()) {
      todo.addFirst(new PartPlanner.Part(next.part().owner(), leftOut));
    }
    if (guess != PartRead.Guess.NONE && offer.ranges().size() < next.part().blocks().size()) {
      guessedWrong();
    }
  }

  private void guessedWrong() {
    if (guess == PartRead.Guess.PREFIX) {
      dropBehind();
    }
    events.guessedWrong();
  }

  private void refused(Asked next, Throwable why) {
    FaultCode code = why instanceof TransportException e ? e.code() : FaultCode.INTERNAL;
    if (code == FaultCode.EXHAUSTED) {
      LOG.debug("a grant waits: {}", why.getMessage());
      todo.addFirst(next.part());
      paused = true;
      if (reading.isEmpty()) {
        pause();
      }
      return;
    }
    if (guess != PartRead.Guess.NONE) {
      LOG.debug("a guess was wrong: {}", why.getMessage());
      hints.forget(next.part().blocks().getFirst().name(), next.part().owner());
      guessedWrong();
      return;
    }
    LOG.info("a fetch ended as a miss: {}: {}", code, why.getMessage());
    fail(next.part());
    if (options.prefix()) {
      // What is read already comes before it, and counts.
      dropBehind();
    }
  }

  /** A prefix ends before these: what was granted or is being granted is given back at once. */
  private void dropBehind() {
    todo.clear();
    asked.forEach(each -> each.read().abandon());
    asked.clear();
  }

  private void pause() {
    try {
      var _ =
          timer.schedule(() -> strand.execute(this::resume), pauseMillis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // This Manager is on its way down.
      stopped = true;
    }
    pauseMillis = Math.min(2 * pauseMillis, LAST_PAUSE_MILLIS);
  }

  private void resume() {
    paused = false;
    goOn();
  }

  private void end(Reading part) {
    paused = false;
    Outcome outcome = part.read().ended().join();
    PartPlanner.Part what = part.part();
    if (outcome instanceof Outcome.Failed failure) {
      if (guess != PartRead.Guess.NONE && failure.code() == FaultCode.NOT_FOUND) {
        hints.forget(what.blocks().getFirst().name(), what.owner());
        return;
      }
      LOG.info("a fetch ended as a miss: {}: {}", failure.code(), failure.message());
    }
    if (!outcome.completed()) {
      fail(what);
      stopped |= options.prefix();
    } else if (guess == PartRead.Guess.NONE) {
      WantedBlock last = what.blocks().getLast();
      hints.learn(last.name(), what.owner(), last.bytes());
    }
    if (!part.read().rejected().isEmpty()) {
      rejecting.addLast(part.read());
      if (!owners.allAnswered().isDone()) {
        var _ = owners.allAnswered().thenRun(() -> strand.execute(this::goOn));
      }
    }
  }

  private void fail(PartPlanner.Part part) {
    part.blocks().forEach(block -> failed.add(block.index()));
  }

  /** What nobody else has is a miss; blocks behind it may have come from others, and go on. */
  private void askElsewhere(PartRead read) {
    PartPlanner planner = new PartPlanner(context.limits());
    for (WantedBlock block : read.rejected()) {
      operation.rejectedBy(block, read.owner());
      OwnerSearch.Candidate next = owners.first(block.name(), operation.rejectedAt(block.index()));
      if (next != null) {
        planner.add(next.owner(), new WantedBlock(block.index(), block.name(), next.bytes()));
      }
    }
    planner.parts().reversed().forEach(todo::addFirst);
  }
}
