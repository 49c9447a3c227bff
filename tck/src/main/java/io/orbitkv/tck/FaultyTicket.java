package io.orbitkv.tck;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.Ticket;
import java.util.Optional;
import java.util.function.Consumer;

record FaultyTicket(Ticket ticket, FaultPlan plan) implements Ticket {
  @Override
  public TicketId id() {
    return ticket.id();
  }

  @Override
  public Optional<Outcome> outcome() {
    return ticket.outcome();
  }

  @Override
  public Optional<Outcome> await(long nanos) throws InterruptedException {
    return ticket.await(nanos);
  }

  @Override
  public void onSettled(Consumer<Outcome> callback) {
    ticket.onSettled(callback);
  }

  @Override
  public void cancel() {
    ticket.cancel();
  }

  @Override
  public Optional<DrainReceipt> drain() {
    return plan.strikes(FaultPlan.Point.TICKET_DRAIN) ? Optional.empty() : ticket.drain();
  }
}
