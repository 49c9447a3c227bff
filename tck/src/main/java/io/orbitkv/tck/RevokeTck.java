package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A revocation lets no new read in, and touches nobody else's grant. */
public abstract class RevokeTck extends ProviderTck {
  private static final long SIZE = 256 << 10;

  /** For subclasses. */
  protected RevokeTck() {}

  @Test
  void readAfterRevocationFailsAndMovesNothing() {
    Exchange exchange = new Exchange(pair(), SIZE);
    SourceHold hold = exchange.admit();
    Batch batch = exchange.batch(exchange.peer.importRegion(hold.wireForm()), 3);
    hold.revoke();
    Ticket before = pair().requester().read(exchange.peer, batch);
    assertEnded(Await.outcome(before));
    var _ = pair().requester().spend(before);
    var _ = pair().owner().spend(hold);
    Ticket after = pair().requester().read(exchange.peer, batch);
    assertEnded(Await.outcome(after));
    exchange.to.assertStays("destination", exchange.all(Exchange.BEFORE), WATCH_NANOS);
  }

  private static void assertEnded(Outcome outcome) {
    assertThat(outcome).isInstanceOf(Outcome.Failed.class);
    FaultCode code = ((Outcome.Failed) outcome).code();
    assertThat(code.retry())
        .as("what a caller may do after %s", outcome)
        .isEqualTo(FaultCode.Retry.AFTER_NEW_GRANT);
  }

  @Test
  void otherGrantsGoOn() {
    Exchange exchange = new Exchange(pair(), SIZE);
    SourceHold first = exchange.admit();
    SourceHold second = exchange.admit();
    Batch batch = exchange.batch(exchange.peer.importRegion(second.wireForm()), 3);
    first.revoke();
    var _ = pair().owner().spend(first);
    try (KitEngine other = pair().openEngine()) {
      SourceHold third = pair().owner().admit(other.transport().epoch(), exchange.source);
      third.revoke();
      var _ = pair().owner().spend(third);
    }
    Ticket ticket = pair().requester().read(exchange.peer, batch);
    assertThat(Await.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
    exchange.to.assertHolds("destination", exchange.all(Exchange.SOURCE));
  }

  @Test
  void revocationUnderTrafficKeepsReusedBytesBack() {
    Exchange exchange = new Exchange(pair(), SIZE);
    for (int round = 0; round < 10; round++) {
      exchange.from.fill(Exchange.SOURCE);
      exchange.to.fill(Exchange.BEFORE);
      SourceHold hold = exchange.admit();
      Batch batch = exchange.batch(exchange.peer.importRegion(hold.wireForm()), 4);
      List<Ticket> tickets = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        tickets.add(pair().requester().read(exchange.peer, batch));
      }
      hold.revoke();
      var _ = pair().owner().spend(hold);
      exchange.from.fill(Exchange.REUSED);
      tickets.add(pair().requester().read(exchange.peer, batch));
      for (Ticket ticket : tickets) {
        var _ = Await.outcome(ticket);
        var _ = pair().requester().spend(ticket);
      }
      assertThat(exchange.countInDestination(Exchange.REUSED))
          .as("bytes read after the source's receipt, round %d", round)
          .isZero();
    }
  }

  @Test
  void revokedRegistrationLetsRunningGrantsEnd() {
    KitEngine owner = pair().owner();
    var registration =
        owner.registration(owner.memory(SIZE).fill(5), io.orbitkv.api.Permission.READ);
    Region region = registration.region();
    SourceHold hold = pair().admit(region);
    registration.revoke();
    hold.revoke();
    var _ = owner.spend(hold);
    registration.close();
    owner.forget(registration);
  }
}
