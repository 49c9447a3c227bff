package io.orbitkv.provider.tcp;

import io.orbitkv.api.Batch;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.Ticket;
import io.orbitkv.ffm.IoVector;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One batch at the requester.
 *
 * <pre>
 * running --end(why): the gate is retired--&gt; ending --nobody inside--&gt; settled --drain--&gt; drained
 * </pre>
 *
 * Whatever ends it (the last byte, a refusal, a lost connection, a cancel) retires its gate first,
 * so its parts that no thread is inside of end with that very step: their replies go to scratch.
 * The outcome is set by whoever drains the gate: from then on nothing can touch the destination.
 */
final class TcpTicket implements Ticket {
  private static final Logger log = LoggerFactory.getLogger(TcpTicket.class);

  private final TcpPeer peer;
  private final TicketId id;
  private final Batch batch;
  private final ImportedRegion source;
  private final Destination destination;
  private final Runnable released;
  private final long progressTimeoutNanos;
  private final long submittedNanos;
  private final Gate gate = new Gate();
  private final AtomicReference<@Nullable Outcome> why = new AtomicReference<>();
  private final AtomicLong missingBytes;
  private final CountDownLatch settled = new CountDownLatch(1);

  /** Guarded by the peer's queue: what was not yet made a part of. */
  private final PieceCursor remote;

  private final PieceCursor local;
  private long unplannedBytes;

  /** Guarded by this. */
  private @Nullable Outcome outcome;

  private @Nullable Consumer<Outcome> callback;
  private boolean receiptIssued;

  /** A ticket that runs; {@code released} runs once, right after its receipt was issued. */
  TcpTicket(
      TcpPeer peer,
      TicketId id,
      Batch batch,
      ImportedRegion source,
      Destination destination,
      long progressTimeoutNanos,
      long submittedNanos,
      Runnable released) {
    this.peer = peer;
    this.id = id;
    this.batch = batch;
    this.source = source;
    this.destination = destination;
    this.progressTimeoutNanos = progressTimeoutNanos;
    this.submittedNanos = submittedNanos;
    this.released = released;
    missingBytes = new AtomicLong(batch.bytes());
    unplannedBytes = batch.bytes();
    remote = new PieceCursor(batch, false);
    local = new PieceCursor(batch, true);
  }

  @Override
  public TicketId id() {
    return id;
  }

  ImportedRegion source() {
    return source;
  }

  /** 0: never. */
  long progressTimeoutNanos() {
    return progressTimeoutNanos;
  }

  long submittedNanos() {
    return submittedNanos;
  }

  /** Whether it was ended; perhaps a thread is still inside. */
  boolean ended() {
    return why.get() != null;
  }

  /** Whether a part can still be made. */
  boolean planned() {
    return unplannedBytes == 0;
  }

  /** Makes the next part, of so many bytes at most, and fills in its entries. */
  Part plan(EntryList entries, long most, long requestId, long nowNanos) {
    PieceCursor start = new PieceCursor(local);
    long limit = new PieceCursor(local).advance(Wire.MAX_PIECES, Math.min(most, unplannedBytes));
    entries.clear();
    long bytes = 0;
    for (int i = 0; i < Wire.MAX_PIECES && bytes < limit; i++) {
      long step = Math.min(remote.left(), limit - bytes);
      entries.addPiece(batch.remote(remote.index()).range(), remote.position(), step);
      remote.advance(step);
      bytes += step;
    }
    long moved = local.advance(Wire.MAX_PIECES, bytes);
    if (moved != bytes) {
      throw new IllegalStateException("the two sides of " + batch + " differ");
    }
    unplannedBytes -= bytes;
    return new Part(this, requestId, start, bytes, entries.frameBytes(), nowNanos);
  }

  /** Enters the destination, unless the ticket was ended; then {@link #leave()} once. */
  boolean enter() {
    return gate.enter();
  }

  void leave() {
    if (gate.leave()) {
      settle();
    }
  }

  /** Whether nothing can touch the destination any more. */
  boolean drained() {
    return gate.drained();
  }

  /** The ranges of a part; only between {@link #enter} and {@link #leave}. */
  void fill(IoVector vector, Part part) {
    destination.fill(vector, new PieceCursor(part.start()), part.bytes());
  }

  /** A part's last byte is in place, and its thread has left. */
  void completed(Part part) {
    if (missingBytes.addAndGet(-part.bytes()) == 0) {
      end(Outcome.COMPLETED);
    }
  }

  /** Ends it with a failure, unless something else ended it before. */
  void fail(FaultCode code, String message) {
    end(new Outcome.Failed(code, message));
  }

  @Override
  public void cancel() {
    end(Outcome.CANCELLED);
  }

  /** Ends it, unless something ended it before; a thread that is stuck inside is ended in time. */
  void end(Outcome ending) {
    if (!why.compareAndSet(null, ending)) {
      return;
    }
    if (!ending.completed()) {
      peer.forget(this);
    }
    if (gate.retire()) {
      settle();
    } else if (!gate.drained()) {
      peer.endStuckReceive(this);
    }
  }

  private void settle() {
    Outcome ending = why.get();
    if (ending == null) {
      throw new IllegalStateException(id + " was drained before it ended");
    }
    Consumer<Outcome> waiting;
    synchronized (this) {
      outcome = ending;
      waiting = callback;
    }
    settled.countDown();
    if (waiting != null) {
      try {
        waiting.accept(ending);
      } catch (RuntimeException e) {
        log.error("the callback of {} fails", id, e);
      }
    }
  }

  @Override
  public synchronized Optional<Outcome> outcome() {
    return Optional.ofNullable(outcome);
  }

  @Override
  public Optional<Outcome> await(long nanos) throws InterruptedException {
    var _ = settled.await(nanos, TimeUnit.NANOSECONDS);
    return outcome();
  }

  @Override
  public void onSettled(Consumer<Outcome> newCallback) {
    Outcome already;
    synchronized (this) {
      if (callback != null) {
        throw new IllegalStateException(id + " has a callback already");
      }
      callback = newCallback;
      already = outcome;
    }
    if (already != null) {
      newCallback.accept(already);
    }
  }

  @Override
  public synchronized Optional<DrainReceipt> drain() {
    if (outcome == null || receiptIssued || !gate.drained()) {
      return Optional.empty();
    }
    DrainReceipt receipt = peer.issue(id, Evidence.LOCAL_QUIESCED);
    receiptIssued = true;
    destination.release();
    released.run();
    return Optional.of(receipt);
  }

  @Override
  public String toString() {
    return id + " of " + batch;
  }
}
