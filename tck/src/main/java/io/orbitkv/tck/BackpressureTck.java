package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.spi.Ticket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A full budget refuses before any side effect, loses nothing, and opens again. */
public abstract class BackpressureTck extends ProviderTck {
  private static final int BUDGET = 3;
  private static final long SIZE = 64 << 10;

  /** For subclasses. */
  protected BackpressureTck() {}

  @Test
  void fullBudgetRefusesWithoutASideEffectAndOpensWithAReceipt() {
    Exchange exchange = new Exchange(pair(BUDGET), SIZE);
    var batch = exchange.batch(exchange.grant(), 4);
    List<Ticket> tickets = new ArrayList<>();
    for (int i = 0; i < BUDGET; i++) {
      tickets.add(pair().requester().read(exchange.peer, batch));
    }
    tickets.forEach(ticket -> assertThat(Await.outcome(ticket)).isEqualTo(Outcome.COMPLETED));
    // An outcome gives no place back: the receipt does.
    assertThat(pair().requester().context().places()).isEqualTo(BUDGET);
    exchange.to.fill(Exchange.REUSED);
    assertRefused(FaultCode.EXHAUSTED, () -> pair().requester().read(exchange.peer, batch));
    exchange.to.assertStays(
        "destination of a refused read", exchange.all(Exchange.REUSED), WATCH_NANOS);
    var _ = pair().requester().spend(tickets.getFirst());
    assertThat(pair().requester().context().places()).isEqualTo(BUDGET - 1);
    Ticket next = pair().requester().read(exchange.peer, batch);
    assertThat(Await.outcome(next)).isEqualTo(Outcome.COMPLETED);
    exchange.to.assertHolds("destination", exchange.all(Exchange.SOURCE));
  }

  @Test
  void everyReceiptGivesItsPlaceBack() {
    Exchange exchange = new Exchange(pair(BUDGET), SIZE);
    for (int i = 0; i < 10 * BUDGET; i++) {
      Ticket ticket = exchange.read();
      var _ = Await.outcome(ticket);
      assertThat(pair().requester().context().places()).isOne();
      var _ = pair().requester().spend(ticket);
      assertThat(pair().requester().context().places()).isZero();
    }
  }

  @Test
  void refusedReadTakesNoPlace() {
    Exchange exchange = new Exchange(pair(BUDGET), SIZE);
    var batch = exchange.batch(exchange.grant(), 1);
    exchange.peer.close();
    assertRefused(FaultCode.CLOSING, () -> pair().requester().read(exchange.peer, batch));
    assertThat(pair().requester().context().places()).isZero();
  }

  @Test
  void cancelledAndFailedReadsGiveTheirPlacesBack() {
    needs(Behaviour.STALL);
    needs(Behaviour.CANCEL);
    Exchange exchange = new Exchange(pair(BUDGET), 1 << 20);
    pair().lever().stallAfter(0);
    List<Ticket> tickets = new ArrayList<>();
    for (int i = 0; i < BUDGET; i++) {
      tickets.add(exchange.read());
    }
    assertRefused(FaultCode.EXHAUSTED, exchange::read);
    tickets.forEach(Ticket::cancel);
    for (Ticket ticket : tickets) {
      assertThat(Await.outcome(ticket)).isEqualTo(Outcome.CANCELLED);
      var _ = pair().requester().spend(ticket);
    }
    assertThat(pair().requester().context().places()).isZero();
    pair().lever().resume();
    assertThat(Await.outcome(exchange.read())).isEqualTo(Outcome.COMPLETED);
  }
}
