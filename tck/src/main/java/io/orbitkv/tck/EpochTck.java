package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What belongs to another incarnation, requester or use is refused before any byte moves. */
public abstract class EpochTck extends ProviderTck {
  private static final long SIZE = 64 << 10;
  private static final long SEED = 20_260_101;

  /** For subclasses. */
  protected EpochTck() {}

  @Test
  void grantOfAnotherIncarnationIsNotImported() {
    Exchange exchange = new Exchange(pair(), SIZE);
    try (KitEngine other = pair().openEngine()) {
      Region region = other.register(other.memory(SIZE).fill(Exchange.REUSED));
      SourceHold hold = other.admit(pair().requester().transport().epoch(), region);
      assertRefused(FaultCode.STALE_EPOCH, () -> exchange.peer.importRegion(hold.wireForm()));
    }
  }

  @Test
  void successorOfTheOwnerIsRefused() {
    needs(Behaviour.SUCCESSOR);
    Exchange exchange = new Exchange(pair(), SIZE);
    RemoteRegion old = exchange.grant();
    try (KitEngine successor = pair().openEngine()) {
      Region region = successor.register(successor.memory(SIZE).fill(Exchange.REUSED));
      var _ = successor.admit(pair().requester().transport().epoch(), region);
      pair().lever().redirect(successor.transport());
      Ticket ticket = pair().requester().read(exchange.peer, exchange.batch(old, 1));
      assertThat(Await.outcome(ticket)).isInstanceOf(Outcome.Failed.class);
      var _ = pair().requester().spend(ticket);
      exchange.to.assertStays("destination", exchange.all(Exchange.BEFORE), WATCH_NANOS);

      Peer renewed =
          pair()
              .requester()
              .keep(
                  pair()
                      .requester()
                      .transport()
                      .connect(
                          pair().endpoint(),
                          successor.transport().epoch(),
                          successor.transport().peerBytes()));
      SourceHold fresh = successor.admit(pair().requester().transport().epoch(), region);
      Batch again = EnginePair.whole(renewed.importRegion(fresh.wireForm()), exchange.target);
      Ticket second = pair().requester().read(renewed, again);
      assertThat(Await.outcome(second)).isEqualTo(Outcome.COMPLETED);
      exchange.to.assertHolds("destination", exchange.all(Exchange.REUSED));
      var _ = pair().requester().spend(second);
      renewed.close();
    }
  }

  @Test
  void grantServesOnlyTheRequesterThatItWasGivenTo() {
    Exchange exchange = new Exchange(pair(), SIZE);
    byte[] form = exchange.admit().wireForm();
    try (KitEngine thief = pair().openEngine()) {
      GuardedMemory memory = thief.memory(SIZE).fill(Exchange.BEFORE);
      Region target = thief.register(memory);
      Peer peer = pair().connect(thief);
      assertNotRead(thief, peer, form, target);
      memory.assertStays("the thief's memory", exchange.all(Exchange.BEFORE), WATCH_NANOS);
    }
  }

  private static void assertNotRead(KitEngine engine, Peer peer, byte[] form, Region target) {
    RemoteRegion region;
    try {
      region = peer.importRegion(form);
    } catch (TransportException e) {
      return;
    }
    Ticket ticket = engine.read(peer, EnginePair.whole(region, target));
    assertThat(Await.outcome(ticket)).isInstanceOf(Outcome.Failed.class);
    var _ = engine.spend(ticket);
  }

  @Test
  void grantForAnIncarnationOfTheRequesterThatIsGoneServesNobody() {
    Exchange exchange = new Exchange(pair(), SIZE);
    byte[] form = pair().owner().admit(Epoch.random(), exchange.source).wireForm();
    assertNotRead(pair().requester(), exchange.peer, form, exchange.target);
    exchange.to.assertStays("destination", exchange.all(Exchange.BEFORE), WATCH_NANOS);
  }

  @Test
  void truncatedWireFormIsRefused() {
    Exchange exchange = new Exchange(pair(), SIZE);
    byte[] form = exchange.admit().wireForm();
    for (int length = 0; length < form.length; length++) {
      byte[] cut = java.util.Arrays.copyOf(form, length);
      assertRefused(FaultCode.CORRUPT, () -> exchange.peer.importRegion(cut));
    }
  }

  @Test
  void damagedWireFormNeverReadsWhatWasNotGranted() {
    Exchange exchange = new Exchange(pair(), SIZE);
    // Half of the region is granted: a length that grew must not reach the other half.
    SourceHold hold =
        pair()
            .owner()
            .admit(
                pair().requester().transport().epoch(),
                io.orbitkv.api.Descriptor.of(exchange.source.id(), 0, SIZE / 2));
    byte[] form = hold.wireForm();
    Random random = new Random(SEED);
    for (int i = 0; i < 200; i++) {
      byte[] damaged = form.clone();
      damaged[random.nextInt(form.length)] ^= (byte) (1 << random.nextInt(8));
      readDamaged(exchange, damaged, "seed " + SEED + ", damage " + i);
    }
  }

  private void readDamaged(Exchange exchange, byte[] form, String what) {
    RemoteRegion region;
    try {
      region = exchange.peer.importRegion(form);
    } catch (TransportException e) {
      return;
    }
    if (region.length(0) > SIZE) {
      return;
    }
    Ticket ticket =
        pair().requester().read(exchange.peer, EnginePair.whole(region, exchange.target));
    if (Await.outcome(ticket).completed()) {
      assertThat(region.length(0)).as("%s", what).isLessThanOrEqualTo(SIZE / 2);
    }
    var _ = pair().requester().spend(ticket);
    assertThat(
            exchange
                .to
                .image()
                .asSlice(SIZE / 2)
                .mismatch(exchange.all(Exchange.BEFORE).asSlice(SIZE / 2)))
        .as("the first byte beyond what was granted (-1: none), %s", what)
        .isEqualTo(-1);
  }
}
