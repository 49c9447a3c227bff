package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.spi.Peer.TicketOptions;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A receipt comes once, after the end, and from then on nothing touches the memory. */
public abstract class DrainTck extends ProviderTck {
  private static final long SIZE = 2 << 20;

  /** For subclasses. */
  protected DrainTck() {}

  @Test
  void receiptOfACompletedReadComesOnce() {
    Exchange exchange = new Exchange(pair(), SIZE);
    Ticket ticket = exchange.read();
    assertThat(Await.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
    DrainReceipt receipt = Await.receipt("receipt", ticket::drain);
    assertThat(receipt.subject()).isEqualTo(ticket.id());
    assertThat(ticket.drain()).as("a second receipt").isEmpty();
    var _ = pair().requester().spend(ticket, receipt);
    assertThat(ticket.drain()).as("a receipt after it was spent").isEmpty();
    assertReusable(exchange);
  }

  /** Fills the destination with something else and watches it. */
  private static void assertReusable(Exchange exchange) {
    exchange.to.fill(Exchange.REUSED);
    exchange.to.assertStays(
        "memory that is used again", exchange.all(Exchange.REUSED), WATCH_NANOS);
    exchange.to.assertRedZones();
  }

  @Test
  void noReceiptWithoutAnOutcome() {
    needs(Behaviour.STALL);
    Exchange exchange = new Exchange(pair(), SIZE);
    pair().lever().stallAfter(SIZE / 2);
    Ticket ticket = exchange.read();
    assertThat(ticket.outcome()).isEmpty();
    assertThat(ticket.drain()).isEmpty();
    pair().lever().resume();
    assertThat(Await.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
    var _ = pair().requester().spend(ticket);
    assertReusable(exchange);
  }

  @Test
  void afterTheReceiptOfACancelledReadNothingComesLate() {
    needs(Behaviour.STALL);
    needs(Behaviour.CANCEL);
    Exchange exchange = new Exchange(pair(), SIZE);
    pair().lever().stallAfter(SIZE / 2);
    Ticket ticket = exchange.read();
    Await.until("the first byte", () -> exchange.countInDestination(Exchange.SOURCE) > 0);
    ticket.cancel();
    assertThat(Await.outcome(ticket)).isEqualTo(Outcome.CANCELLED);
    var _ = pair().requester().spend(ticket);
    exchange.to.fill(Exchange.REUSED);
    pair().lever().resume();
    exchange.to.assertStays(
        "memory of a cancelled read that is used again",
        exchange.all(Exchange.REUSED),
        2 * WATCH_NANOS);
  }

  @Test
  void afterTheReceiptOfATimedOutReadNothingComesLate() {
    needs(Behaviour.STALL);
    Exchange exchange = new Exchange(pair(), SIZE);
    pair().lever().stallAfter(SIZE / 2);
    Ticket ticket = exchange.read(new TicketOptions(TimeUnit.MILLISECONDS.toNanos(100)));
    assertThat(Await.outcome(ticket)).isInstanceOf(Outcome.Failed.class);
    var _ = pair().requester().spend(ticket);
    exchange.to.fill(Exchange.REUSED);
    pair().lever().resume();
    exchange.to.assertStays(
        "memory of a timed out read that is used again",
        exchange.all(Exchange.REUSED),
        2 * WATCH_NANOS);
  }

  @Test
  void sourceNeedsRetirementAndGivesOneReceipt() {
    Exchange exchange = new Exchange(pair(), SIZE);
    SourceHold hold = exchange.admit();
    assertThat(hold.drain()).as("receipt of a grant that is not retired").isEmpty();
    hold.revoke();
    hold.revoke();
    DrainReceipt receipt = Await.receipt("receipt of " + hold.grant(), hold::drain);
    assertThat(receipt.subject()).isEqualTo(hold.grant());
    assertThat(hold.drain()).as("a second receipt").isEmpty();
    var _ = pair().owner().spend(hold, receipt);
  }

  @Test
  void afterTheReceiptOfASourceNothingIsReadFromIt() {
    needs(Behaviour.STALL);
    Exchange exchange = new Exchange(pair(), SIZE);
    SourceHold hold = exchange.admit();
    var batch = exchange.batch(exchange.peer.importRegion(hold.wireForm()), 8);
    pair().lever().stallAfter(SIZE / 4);
    Ticket ticket = pair().requester().read(exchange.peer, batch);
    Await.until("the first byte", () -> exchange.countInDestination(Exchange.SOURCE) > 0);
    hold.revoke();
    long patience = System.nanoTime() + 4 * WATCH_NANOS;
    DrainReceipt early = null;
    while (early == null && System.nanoTime() < patience) {
      early = hold.drain().orElse(null);
    }
    // Bytes that left the source before its receipt may arrive; what it is filled with now may not.
    if (early != null) {
      exchange.from.fill(Exchange.REUSED);
    }
    pair().lever().resume();
    var _ = Await.outcome(ticket);
    var _ = early == null ? pair().owner().spend(hold) : pair().owner().spend(hold, early);
    exchange.from.fill(Exchange.REUSED);
    var _ = pair().requester().spend(ticket);
    assertThat(exchange.countInDestination(Exchange.REUSED))
        .as("bytes that were read after the source's receipt")
        .isZero();
  }

  @Test
  void receiptsOfManyTicketsFitTheirOwnOnly() {
    Exchange exchange = new Exchange(pair(), 64 << 10);
    Ticket[] tickets = new Ticket[16];
    for (int i = 0; i < tickets.length; i++) {
      tickets[i] = exchange.read();
    }
    for (int i = tickets.length - 1; i >= 0; i--) {
      var _ = Await.outcome(tickets[i]);
      DrainReceipt receipt = Await.receipt("receipt of " + tickets[i].id(), tickets[i]::drain);
      assertThat(receipt.subject()).isEqualTo(tickets[i].id());
      var _ = pair().requester().spend(tickets[i], receipt);
    }
    assertThat(pair().requester().context().places()).isZero();
  }
}
