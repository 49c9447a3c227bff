package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Outcome;
import io.orbitkv.api.spi.Peer.TicketOptions;
import io.orbitkv.api.spi.Ticket;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Links that break and stand still: the outcome is true, and so is the receipt. */
public abstract class FaultTck extends ProviderTck {
  private static final long SIZE = 2 << 20;
  private static final long SEED = 4_711;
  private static final int STEPS = 60;

  /** For subclasses. */
  protected FaultTck() {}

  @Test
  void brokenLinkFailsTheReadAndNothingComesLate() {
    needs(Behaviour.STALL);
    needs(Behaviour.CUT);
    Exchange exchange = new Exchange(pair(), SIZE);
    pair().lever().stallAfter(SIZE / 2);
    Ticket ticket = exchange.read();
    Await.until("the first byte", () -> exchange.countInDestination(Exchange.SOURCE) > 0);
    pair().lever().cut();
    Outcome outcome = Await.outcome(ticket);
    assertThat(outcome).isInstanceOfAny(Outcome.Failed.class, Outcome.Unknown.class);
    var _ = pair().requester().spend(ticket);
    exchange.to.fill(Exchange.REUSED);
    pair().lever().resume();
    exchange.to.assertStays(
        "memory of a failed read that is used again", exchange.all(Exchange.REUSED), WATCH_NANOS);
    assertThat(ticket.outcome()).contains(outcome);
  }

  @Test
  void theNextReadAfterABrokenLinkIsServed() {
    needs(Behaviour.CUT);
    Exchange exchange = new Exchange(pair(), SIZE);
    var _ = Await.outcome(exchange.read());
    pair().lever().cut();
    Await.until(
        "a read that completes",
        () -> {
          exchange.to.fill(Exchange.BEFORE);
          Ticket ticket = exchange.read();
          boolean completed = Await.outcome(ticket).completed();
          var _ = pair().requester().spend(ticket);
          return completed;
        });
    exchange.to.assertHolds("destination", exchange.all(Exchange.SOURCE));
  }

  @Test
  void ownerThatStandsStillIsGivenUpByTheProvider() {
    needs(Behaviour.STALL);
    Exchange exchange = new Exchange(pair(), SIZE);
    pair().lever().stallAfter(0);
    Ticket ticket = exchange.read(new TicketOptions(TimeUnit.MILLISECONDS.toNanos(80)));
    assertThat(Await.outcome(ticket)).isInstanceOf(Outcome.Failed.class);
    var _ = pair().requester().spend(ticket);
    exchange.to.assertStays("destination", exchange.all(Exchange.BEFORE), WATCH_NANOS);
  }

  @Test
  void ownerThatIsGoneFailsTheReadWithAReceipt() {
    needs(Behaviour.STALL);
    needs(Behaviour.CUT);
    needs(Behaviour.SUCCESSOR);
    Exchange exchange = new Exchange(pair(), SIZE);
    var batch = exchange.batch(exchange.grant(), 2);
    try (KitEngine gone = pair().openEngine()) {
      pair().lever().redirect(gone.transport());
    }
    pair().lever().cut();
    Ticket ticket =
        pair()
            .requester()
            .read(exchange.peer, batch, new TicketOptions(TimeUnit.SECONDS.toNanos(1)));
    assertThat(Await.outcome(ticket)).isInstanceOf(Outcome.Failed.class);
    var _ = pair().requester().spend(ticket);
    exchange.to.assertStays("destination", exchange.all(Exchange.BEFORE), WATCH_NANOS);
  }

  @Test
  void randomFaultsNeverBringGarbageWithSuccess() {
    needs(Behaviour.STALL);
    needs(Behaviour.CUT);
    needs(Behaviour.CANCEL);
    FaultPlan plan = FaultPlan.of(SEED);
    Exchange exchange = new Exchange(pair(), 256 << 10);
    TicketOptions options = new TicketOptions(TimeUnit.MILLISECONDS.toNanos(150));
    int completed = 0;
    for (int i = 0; i < STEPS; i++) {
      exchange.to.fill(Exchange.BEFORE);
      FaultPlan.LinkFault fault = plan.linkFault();
      Ticket ticket = exchange.read(options);
      strike(fault, plan, exchange, ticket);
      Outcome outcome = Await.outcome(ticket);
      if (outcome.completed()) {
        completed++;
        exchange.to.assertHolds(plan + ", step " + i, exchange.all(Exchange.SOURCE));
      }
      var _ = pair().requester().spend(ticket);
      exchange.to.fill(Exchange.REUSED);
      pair().lever().resume();
      exchange.to.assertStays(
          plan + ", step " + i + " after " + fault, exchange.all(Exchange.REUSED), 2_000_000);
    }
    assertThat(completed).as("reads that completed under %s", plan).isPositive();
  }

  private void strike(FaultPlan.LinkFault fault, FaultPlan plan, Exchange exchange, Ticket ticket) {
    switch (fault) {
      case NONE -> {}
      case STALL -> pair().lever().stallAfter(plan.below(exchange.bytes));
      case CUT -> {
        LockSupport.parkNanos(plan.below(400_000));
        pair().lever().cut();
      }
      case CANCEL -> {
        LockSupport.parkNanos(plan.below(400_000));
        ticket.cancel();
      }
    }
  }
}
