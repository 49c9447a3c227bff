package io.orbitkv.manager.reference;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.Ticket;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

final class ReferenceTicket implements Ticket {
  private final ReceiptIssuer issuer;
  private final TicketId id;
  private final AdmissionBudget.Place place;
  private boolean cancelled;
  private boolean proven;
  private @Nullable Outcome outcome;
  private @Nullable Consumer<Outcome> callback;

  ReferenceTicket(ReceiptIssuer issuer, TicketId id, AdmissionBudget.Place place) {
    this.issuer = issuer;
    this.id = id;
    this.place = place;
  }

  /** The copy has left the memory; what it wrote counts only if nobody cancelled. */
  void leave(Outcome result) {
    Consumer<Outcome> told;
    Outcome set;
    synchronized (this) {
      set = cancelled ? Outcome.CANCELLED : result;
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
  public synchronized void cancel() {
    cancelled = true;
  }

  @Override
  public Optional<DrainReceipt> drain() {
    synchronized (this) {
      if (outcome == null || proven) {
        return Optional.empty();
      }
      proven = true;
    }
    place.close();
    return Optional.of(issuer.issue(id, Evidence.LOCAL_QUIESCED));
  }
}
