package io.orbitkv.tck.reference;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.Ticket;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One batch; its outcome is set when the copying thread has left the destination. */
final class ReferenceTicket implements Ticket {
  private final ReferenceTransport transport;
  private final TicketId id;
  private final Runnable released;
  private volatile @Nullable Outcome ending;
  private @Nullable DrainReceipt receipt;
  private @Nullable Outcome outcome;
  private @Nullable Consumer<Outcome> callback;

  /** {@code released} runs once, when the receipt was issued. */
  ReferenceTicket(ReferenceTransport transport, TicketId id, Runnable released) {
    this.transport = transport;
    this.id = id;
    this.released = released;
  }

  /** Whether the copy is to stop at its next byte. */
  boolean ending() {
    return ending != null;
  }

  /** Asks the copy to stop; what it tells then is this. */
  void end(Outcome why) {
    synchronized (this) {
      if (ending == null && outcome == null) {
        ending = why;
      }
    }
    transport.lever().wake();
  }

  /** The copy has left the memory. */
  void leave(Outcome result) {
    Consumer<Outcome> told;
    Outcome set;
    synchronized (this) {
      if (outcome != null) {
        return;
      }
      Outcome why = ending;
      set = why == null ? result : why;
      outcome = set;
      told = callback;
      notifyAll();
    }
    if (told != null) {
      told.accept(set);
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
  public synchronized Optional<Outcome> await(long nanos) throws InterruptedException {
    long deadline = System.nanoTime() + nanos;
    for (long left = nanos; outcome == null && left > 0; left = deadline - System.nanoTime()) {
      wait(1 + TimeUnit.NANOSECONDS.toMillis(left));
    }
    return outcome();
  }

  @Override
  public void onSettled(Consumer<Outcome> told) {
    Outcome set;
    synchronized (this) {
      if (callback != null) {
        throw new IllegalStateException("there is a callback already");
      }
      callback = told;
      set = outcome;
    }
    if (set != null) {
      told.accept(set);
    }
  }

  @Override
  public void cancel() {
    if (transport.has(Defect.CANCEL_LOST)) {
      return;
    }
    if (transport.has(Defect.RECEIPT_BEFORE_THREAD_LEFT)) {
      leave(Outcome.CANCELLED);
    }
    end(Outcome.CANCELLED);
  }

  @Override
  public Optional<DrainReceipt> drain() {
    DrainReceipt issued;
    synchronized (this) {
      if (outcome == null) {
        return Optional.empty();
      }
      if (receipt != null) {
        return transport.has(Defect.RECEIPT_TWICE) ? Optional.of(receipt) : Optional.empty();
      }
      issued = transport.receipts().issue(id, Evidence.LOCAL_QUIESCED);
      receipt = issued;
      if (transport.has(Defect.CALLBACK_TWICE) && callback != null) {
        callback.accept(outcome);
      }
    }
    released.run();
    return Optional.of(issued);
  }
}
