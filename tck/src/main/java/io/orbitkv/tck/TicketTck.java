package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.spi.Ticket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A read throws or returns a ticket; its outcome is set once, after its last part. */
public abstract class TicketTck extends ProviderTck {
  private static final long SIZE = 1 << 20;

  /** For subclasses. */
  protected TicketTck() {}

  @Test
  void outcomeIsToldOnceAndNeverChanges() throws InterruptedException {
    Exchange exchange = new Exchange(pair(), SIZE);
    Ticket ticket = exchange.read();
    List<Outcome> told = new CopyOnWriteArrayList<>();
    ticket.onSettled(told::add);
    assertThat(Await.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
    Await.until("the callback", () -> !told.isEmpty());
    ticket.cancel();
    assertThat(ticket.outcome()).contains(Outcome.COMPLETED);
    assertThat(ticket.await(0)).contains(Outcome.COMPLETED);
    var _ = pair().requester().spend(ticket);
    ticket.cancel();
    assertThat(ticket.outcome()).contains(Outcome.COMPLETED);
    assertThat(told).containsExactly(Outcome.COMPLETED);
    assertThatThrownBy(() -> ticket.onSettled(told::add)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void callbackThatComesLateRunsAtOnceInTheCallersThread() {
    Ticket ticket = new Exchange(pair(), SIZE).read();
    var _ = Await.outcome(ticket);
    List<Thread> ran = new CopyOnWriteArrayList<>();
    ticket.onSettled(_ -> ran.add(Thread.currentThread()));
    assertThat(ran).containsExactly(Thread.currentThread());
  }

  @Test
  void outcomeComesAfterTheLastPart() throws InterruptedException {
    needs(Behaviour.STALL);
    Exchange exchange = new Exchange(pair(), SIZE);
    pair().lever().stallAfter(SIZE / 2);
    Ticket ticket = exchange.read();
    List<Outcome> told = new CopyOnWriteArrayList<>();
    ticket.onSettled(told::add);
    assertThat(ticket.await(WATCH_NANOS)).as("outcome in the middle").isEmpty();
    assertThat(ticket.drain()).as("receipt in the middle").isEmpty();
    assertThat(told).isEmpty();
    pair().lever().resume();
    assertThat(Await.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
    exchange.to.assertHolds("destination", exchange.all(Exchange.SOURCE));
  }

  @Test
  void cancelEndsWorkThatStandsStill() {
    needs(Behaviour.STALL);
    needs(Behaviour.CANCEL);
    Exchange exchange = new Exchange(pair(), SIZE);
    pair().lever().stallAfter(SIZE / 2);
    Ticket ticket = exchange.read();
    ticket.cancel();
    ticket.cancel();
    assertThat(Await.outcome(ticket)).isEqualTo(Outcome.CANCELLED);
    var _ = pair().requester().spend(ticket);
    pair().lever().resume();
    exchange.to.fill(Exchange.BEFORE);
    Ticket next = exchange.read();
    assertThat(Await.outcome(next)).isEqualTo(Outcome.COMPLETED);
    exchange.to.assertHolds("destination of the next read", exchange.all(Exchange.SOURCE));
  }

  @Test
  void cancelRightAfterSubmissionEndsOneWayOrTheOther() {
    for (int i = 0; i < 20; i++) {
      Ticket ticket = new Exchange(pair(), 50_000 + i).read();
      LockSupport.parkNanos(i * 20_000L);
      ticket.cancel();
      assertThat(Await.outcome(ticket)).isIn(Outcome.COMPLETED, Outcome.CANCELLED);
      var _ = pair().requester().spend(ticket);
    }
  }

  @Test
  void closedPeerFailsItsTicketsWhichStillNeedReceipts() {
    needs(Behaviour.STALL);
    Exchange exchange = new Exchange(pair(), SIZE);
    var batch = exchange.batch(exchange.grant(), 1);
    pair().lever().stallAfter(SIZE / 4);
    Ticket ticket = exchange.read();
    exchange.peer.close();
    assertThat(Await.outcome(ticket).completed()).isFalse();
    assertThat(pair().requester().context().places()).isOne();
    var _ = pair().requester().spend(ticket);
    assertRefused(FaultCode.CLOSING, () -> pair().requester().read(exchange.peer, batch));
  }

  @Test
  void regionOfAnotherPeerIsRefused() {
    Exchange exchange = new Exchange(pair(), SIZE);
    var batch = exchange.batch(exchange.grant(), 1);
    var other = pair().connect();
    assertRefused(FaultCode.INVALID, () -> pair().requester().read(other, batch));
    exchange.to.assertStays("destination", exchange.all(Exchange.BEFORE), WATCH_NANOS);
  }

  @Test
  void awaitThatEndsFirstChangesNothing() throws InterruptedException {
    needs(Behaviour.STALL);
    Exchange exchange = new Exchange(pair(), SIZE);
    pair().lever().stallAfter(0);
    Ticket ticket = exchange.read();
    assertThat(ticket.await(TimeUnit.MILLISECONDS.toNanos(5))).isEmpty();
    pair().lever().resume();
    assertThat(Await.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
  }
}
