package io.orbitkv.provider.tcp;

import io.orbitkv.api.Batch;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.Ticket;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
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
  /** A ticket of at most so many bytes goes over a lane of its own and is polled for. */
  static final int SMALL_BYTES = 256 << 10;

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

  /** The first thread that waits: the one that receives, or is woken to. */
  private final AtomicReference<@Nullable Thread> waiting = new AtomicReference<>();

  /** Where its first part was sent: the thread that waits receives there, and nowhere else. */
  private final AtomicReference<@Nullable Lane> home = new AtomicReference<>();

  /** Guarded by the peer's queue: what was not yet made a part of. */
  private final PieceCursor remote;

  private PieceCursor local;
  private long unplannedBytes;

  /** Guarded by this. */
  private @Nullable Outcome outcome;

  private @Nullable Consumer<Outcome> callback;
  private boolean called;
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

  /** Whether it is of the kind that does not wait behind bulk. */
  boolean small() {
    return batch.bytes() <= SMALL_BYTES;
  }

  /** A part of it is sent. */
  void sentOn(Lane lane) {
    home.compareAndSet(null, lane);
  }

  /** Whether the thread that waits receives on this lane. */
  boolean isAtHome(Lane lane) {
    return home.get() == lane;
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
    PieceCursor start = local;
    PieceCursor end = new PieceCursor(start);
    long limit = end.advance(Wire.MAX_PIECES, Math.min(most, unplannedBytes));
    entries.clear();
    long bytes = 0;
    for (int i = 0; i < Wire.MAX_PIECES && bytes < limit; i++) {
      long step = Math.min(remote.left(), limit - bytes);
      entries.addPiece(batch.remote(remote.index()).range(), remote.position(), step);
      remote.advance(step);
      bytes += step;
    }
    if (bytes < limit) {
      // The remote side is of more pieces than the local one.
      end = new PieceCursor(start);
      if (end.advance(Wire.MAX_PIECES, bytes) != bytes) {
        throw new IllegalStateException("the two sides of " + batch + " differ");
      }
    }
    local = end;
    unplannedBytes -= bytes;
    return new Part(this, requestId, start, bytes, entries.frameBytes(), nowNanos);
  }

  /** Enters the destination, unless the ticket was ended; then {@link #leave} once. */
  boolean enter() {
    return gate.enter();
  }

  /**
   * Ends an entry.
   *
   * @param later is given the ticket if that settles it, and has it told by {@link #tell()}
   */
  void leave(Consumer<TcpTicket> later) {
    if (gate.leave()) {
      settle(later);
    }
  }

  /** Whether nothing can touch the destination any more. */
  boolean drained() {
    return gate.drained();
  }

  /** Shows the ranges of a part; only between {@link #enter} and {@link #leave}. */
  void forEachPiece(Part part, Destination.Pieces to) {
    destination.forEachPiece(new PieceCursor(part.start()), part.bytes(), to);
  }

  /** A part's last byte is in place, and its thread has left. As {@link #leave(Consumer)}. */
  void completed(Part part, Consumer<TcpTicket> later) {
    if (missingBytes.addAndGet(-part.bytes()) == 0) {
      end(Outcome.COMPLETED, later);
    }
  }

  /** Ends it with a failure, unless something else ended it before. */
  void fail(FaultCode code, String message) {
    fail(code, message, TcpTicket::tell);
  }

  /** As {@link #fail(FaultCode, String)} and {@link #leave(Consumer)}. */
  void fail(FaultCode code, String message, Consumer<TcpTicket> later) {
    end(new Outcome.Failed(code, message), later);
  }

  @Override
  public void cancel() {
    end(Outcome.CANCELLED);
  }

  /** Ends it, unless something ended it before; a thread that is stuck inside is ended in time. */
  void end(Outcome ending) {
    end(ending, TcpTicket::tell);
  }

  private void end(Outcome ending, Consumer<TcpTicket> later) {
    if (!why.compareAndSet(null, ending)) {
      return;
    }
    if (!ending.completed()) {
      peer.forget(this);
    }
    if (gate.retire()) {
      settle(later);
    } else if (!gate.drained()) {
      peer.endStuckReceive(this);
    }
    if (!ending.completed()) {
      // Its replies are still read to their end.
      peer.attend(false);
    }
  }

  private void settle(Consumer<TcpTicket> later) {
    Outcome ending = why.get();
    if (ending == null) {
      throw new IllegalStateException(id + " was drained before it ended");
    }
    synchronized (this) {
      outcome = ending;
    }
    settled.countDown();
    var _ = wakeWaiting();
    later.accept(this);
  }

  /** Runs the callback of a ticket that is settled, if it has one that was not run. */
  void tell() {
    Consumer<Outcome> told;
    Outcome known;
    synchronized (this) {
      told = callback;
      known = outcome;
      if (told == null || known == null || called) {
        return;
      }
      called = true;
    }
    try {
      told.accept(known);
    } catch (RuntimeException e) {
      log.error("the callback of {} fails", id, e);
    }
  }

  boolean isSettled() {
    return settled.getCount() == 0;
  }

  /** Whether a thread waits that can receive on this lane. */
  boolean isAwaitedAt(Lane lane) {
    return home.get() == lane && waiting.get() != null;
  }

  /**
   * Wakes another thread that waits, so that it receives or sees the outcome; false if none does.
   */
  boolean wakeWaiting() {
    Thread thread = waiting.get();
    if (thread == null || thread == Thread.currentThread()) {
      return false;
    }
    LockSupport.unpark(thread);
    return true;
  }

  @Override
  public Optional<Outcome> outcome() {
    Optional<Outcome> now = outcomeNow();
    if (now.isEmpty()) {
      peer.attend(false);
    }
    return now;
  }

  private synchronized Optional<Outcome> outcomeNow() {
    return Optional.ofNullable(outcome);
  }

  @Override
  public Optional<Outcome> await(long nanos) throws InterruptedException {
    if (!isSettled() && nanos > 0) {
      peer.waits();
      long now = System.nanoTime();
      boolean first = waiting.compareAndSet(null, Thread.currentThread());
      try {
        await(now + Math.min(nanos, Long.MAX_VALUE / 2), first);
      } finally {
        if (first) {
          waiting.set(null);
        }
        // Others may have relied on this thread to receive for them.
        peer.attend(peer.awaited());
      }
    }
    return outcomeNow();
  }

  private void await(long deadlineNanos, boolean first) throws InterruptedException {
    while (!isSettled()) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      Lane lane = home.get();
      if (lane != null) {
        lane.receiveFor(this, deadlineNanos);
      }
      long left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        return;
      }
      if (isSettled()) {
        return;
      }
      if (first) {
        LockSupport.parkNanos(this, left);
      } else if (settled.await(left, TimeUnit.NANOSECONDS)) {
        return;
      }
    }
  }

  @Override
  public void onSettled(Consumer<Outcome> newCallback) {
    synchronized (this) {
      if (callback != null) {
        throw new IllegalStateException(id + " has a callback already");
      }
      callback = newCallback;
    }
    tell();
  }

  @Override
  public Optional<DrainReceipt> drain() {
    if (!isSettled()) {
      peer.attend(false);
    }
    return receipt();
  }

  private synchronized Optional<DrainReceipt> receipt() {
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
