package io.orbitkv.api.provider;

import io.orbitkv.api.Batch;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Ticket;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A ticket whose destination is behind a {@link Gate}. Made by {@link OpenWork#submit}.
 *
 * <pre>
 * running --end(why): the gate is retired--&gt; ending --nobody inside--&gt; settled --drain--&gt; drained
 * </pre>
 *
 * <p>Whoever touches the destination enters before and leaves after. Whatever ends the ticket (the
 * last byte, a refusal, a broken link, a cancel) retires the gate first; the outcome is set by the
 * step after which nobody is inside, and the receipt can be had from then on. Thread-safe.
 */
public final class GatedTicket implements Ticket {
  private final TicketId id;
  private final Batch batch;
  private final RegionUse destinations;
  private final Supplier<DrainReceipt> mint;
  private final Runnable stuck;
  private final Runnable drained;
  private final Gate gate = new Gate();
  private final AtomicReference<@Nullable Outcome> why = new AtomicReference<>();
  private final CountDownLatch settled = new CountDownLatch(1);

  /** Guarded by this, as are the two below. */
  private @Nullable Outcome outcome;

  private @Nullable Consumer<Outcome> callback;
  private boolean receiptIssued;

  /** {@code drained} runs once, right after the receipt was minted. */
  GatedTicket(
      TicketId id,
      Batch batch,
      RegionUse destinations,
      Supplier<DrainReceipt> mint,
      Runnable stuck,
      Runnable drained) {
    this.id = id;
    this.batch = batch;
    this.destinations = destinations;
    this.mint = mint;
    this.stuck = stuck;
    this.drained = drained;
  }

  /** What it reads. */
  public Batch batch() {
    return batch;
  }

  /**
   * Enters the destination, unless the ticket was ended.
   *
   * @return whether it entered; who did calls {@link #leave()} once, in any thread, when nothing of
   *     it is inside any more
   */
  public boolean enter() {
    return gate.enter();
  }

  /**
   * Leaves the destination. May run the callback.
   *
   * @throws IllegalStateException if nobody is inside
   */
  public void leave() {
    if (gate.leave()) {
      settle();
    }
  }

  /**
   * The memory of the region that entry {@code i} goes to; the offsets of {@code batch().local(i)}
   * count from its start. Only between {@link #enter()} and {@link #leave()}.
   */
  public MemorySegment destination(int i) {
    return destinations.region(i).memory();
  }

  /** Whether something ended it; somebody may still be inside. To be asked between two pieces. */
  public boolean ended() {
    return why.get() != null;
  }

  /**
   * Ends it, unless something ended it before; then this does nothing. The outcome is set at once,
   * or by the last one that leaves. Who is inside is taken for stuck: leave before you end it with
   * COMPLETED. May run the callback.
   *
   * @param ending what becomes the outcome
   */
  public void end(Outcome ending) {
    if (!why.compareAndSet(null, ending)) {
      return;
    }
    if (gate.retire()) {
      settle();
    } else if (!gate.drained()) {
      stuck.run();
    }
  }

  /**
   * Does the whole work in this thread: enters, works, leaves, and ends it with what came of it.
   * Does nothing if the ticket was ended before.
   *
   * @param work when it returns or throws, nothing of it is inside the destination. What it throws
   *     is an outcome too: FAILED with the code of a {@link TransportException}, else with INTERNAL
   */
  public void run(Supplier<Outcome> work) {
    if (enter()) {
      Outcome result = outcomeOf(work);
      leave();
      end(result);
    }
  }

  private Outcome outcomeOf(Supplier<Outcome> work) {
    try {
      return work.get();
    } catch (TransportException e) {
      return new Outcome.Failed(e.code(), String.valueOf(e.getMessage()));
    } catch (RuntimeException | Error e) {
      // Without an outcome it would never be drained.
      return new Outcome.Failed(FaultCode.INTERNAL, id + " could not be read: " + e);
    }
  }

  private void settle() {
    Outcome ending = why.get();
    if (ending == null) {
      throw new IllegalStateException(id + " was drained before it ended");
    }
    Consumer<Outcome> told;
    synchronized (this) {
      outcome = ending;
      told = callback;
    }
    settled.countDown();
    if (told != null) {
      told.accept(ending);
    }
  }

  @Override
  public TicketId id() {
    return id;
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
  public void onSettled(Consumer<Outcome> told) {
    Outcome already;
    synchronized (this) {
      if (callback != null) {
        throw new IllegalStateException(id + " has a callback already");
      }
      callback = told;
      already = outcome;
    }
    if (already != null) {
      told.accept(already);
    }
  }

  @Override
  public void cancel() {
    end(Outcome.CANCELLED);
  }

  @Override
  public synchronized Optional<DrainReceipt> drain() {
    if (outcome == null || receiptIssued) {
      return Optional.empty();
    }
    DrainReceipt receipt = mint.get();
    receiptIssued = true;
    drained.run();
    return Optional.of(receipt);
  }

  @Override
  public String toString() {
    return id + " of " + batch;
  }
}
