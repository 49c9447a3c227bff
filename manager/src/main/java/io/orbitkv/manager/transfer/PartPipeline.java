package io.orbitkv.manager.transfer;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.GrantOffer;
import io.orbitkv.manager.local.BlockService.ReadOptions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the parts of one fetch, in order: the grant of the next part is asked for while others are
 * read. An owner grants as many blocks as its limits allow now; what it left out, or could not
 * grant at all yet, is asked for again when a part has ended, until the deadline. A block that is
 * not what was published is asked for at the next peer that has it.
 *
 * <p>Runs in the operation's thread.
 */
final class PartPipeline {
  private static final Logger LOG = LoggerFactory.getLogger(PartPipeline.class);
  private static final int GRANTS_AHEAD = 1;
  private static final int PARTS_IN_FLIGHT = 2;
  private static final long FIRST_PAUSE_MILLIS = 1;
  private static final long LAST_PAUSE_MILLIS = 64;

  private record Asked(PartPlanner.Part part, PartRead read, CompletableFuture<GrantOffer> offer) {}

  private final FetchContext context;
  private final PartRead.Sink sink;
  private final Object leaseHolder;
  private final ReadOptions options;
  private final OwnerSearch owners;
  private final Deque<PartPlanner.Part> todo = new ArrayDeque<>();
  private final Deque<Asked> asked = new ArrayDeque<>();
  private final Deque<PartRead> reading = new ArrayDeque<>();
  private final List<PartRead> all = new ArrayList<>();
  private long pauseMillis = FIRST_PAUSE_MILLIS;
  private boolean stopped;

  PartPipeline(
      FetchContext context,
      PartRead.Sink sink,
      Object leaseHolder,
      ReadOptions options,
      OwnerSearch owners) {
    this.context = context;
    this.sink = sink;
    this.leaseHolder = leaseHolder;
    this.options = options;
    this.owners = owners;
  }

  /** Reads the parts, until all have ended, no more can come, or the deadline. */
  void run(List<PartPlanner.Part> parts) throws InterruptedException {
    todo.addAll(parts);
    try {
      while (!stopped && !(todo.isEmpty() && asked.isEmpty() && reading.isEmpty())) {
        ask();
        if (!asked.isEmpty() && reading.size() < PARTS_IN_FLIGHT) {
          submit(asked.removeFirst());
        } else if (!reading.isEmpty()) {
          end(reading.removeFirst());
        }
      }
    } finally {
      all.forEach(PartRead::abandon);
    }
  }

  private void ask() {
    while (!todo.isEmpty() && asked.size() <= GRANTS_AHEAD) {
      PartPlanner.Part part = todo.removeFirst();
      PartRead read = new PartRead(context, part.owner(), part.blocks(), sink, leaseHolder);
      try {
        read.reserve();
      } catch (TransportException e) {
        LOG.info("a fetch goes no further: {}: {}", e.code(), e.getMessage());
        todo.clear();
        return;
      }
      all.add(read);
      asked.addLast(new Asked(part, read, read.askGrant()));
    }
  }

  private void submit(Asked next) throws InterruptedException {
    GrantOffer offer;
    try {
      offer = next.offer().get(remainingNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      LOG.info("the deadline of a read passed before its grant came; the rest is a miss");
      stop();
      return;
    } catch (ExecutionException e) {
      next.read().abandon();
      refused(next, e.getCause());
      return;
    }
    pauseMillis = FIRST_PAUSE_MILLIS;
    List<WantedBlock> leftOut = next.read().submit(offer);
    reading.addLast(next.read());
    if (!leftOut.isEmpty()) {
      todo.addFirst(new PartPlanner.Part(next.part().owner(), leftOut));
    }
  }

  private void refused(Asked next, @Nullable Throwable why) throws InterruptedException {
    if (why instanceof TransportException e && e.code() == FaultCode.EXHAUSTED) {
      LOG.debug("a grant waits: {}", e.getMessage());
      todo.addFirst(next.part());
      if (!reading.isEmpty()) {
        end(reading.removeFirst());
      } else {
        pause();
      }
      return;
    }
    LOG.info("a fetch ended as a miss: {}", String.valueOf(why));
    if (options.prefix()) {
      // What is read already comes before it, and counts.
      todo.clear();
      asked.clear();
    }
  }

  private void pause() throws InterruptedException {
    long left = TimeUnit.NANOSECONDS.toMillis(remainingNanos());
    if (left <= pauseMillis) {
      LOG.info("the deadline of a read passed while its owner had no room for another grant");
      stop();
      return;
    }
    Thread.sleep(pauseMillis);
    pauseMillis = Math.min(2 * pauseMillis, LAST_PAUSE_MILLIS);
  }

  private void end(PartRead read) throws InterruptedException {
    Outcome outcome;
    try {
      read.receive(options.deadlineNanos());
      outcome = read.ended().get(remainingNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      LOG.info("the deadline of a read passed before its transfer ended; the rest is a miss");
      stop();
      return;
    } catch (ExecutionException e) {
      throw new IllegalStateException("a part ended without an outcome", e);
    }
    if (outcome instanceof Outcome.Failed failed) {
      LOG.info("a fetch ended as a miss: {}: {}", failed.code(), failed.message());
    }
    if (!outcome.completed() && options.prefix()) {
      stop();
    }
    askElsewhere(read);
  }

  /** What nobody else has is a miss; blocks behind it may have come from others, and go on. */
  private void askElsewhere(PartRead read) {
    PartPlanner planner = new PartPlanner(context.limits());
    for (WantedBlock block : read.rejected()) {
      OwnerSearch.Candidate next = owners.after(block.name(), read.owner());
      if (next != null) {
        planner.add(next.owner(), new WantedBlock(block.index(), block.name(), next.bytes()));
      }
    }
    planner.parts().reversed().forEach(todo::addFirst);
  }

  private void stop() {
    stopped = true;
  }

  private long remainingNanos() {
    return Math.max(0, options.deadlineNanos() - System.nanoTime());
  }
}
