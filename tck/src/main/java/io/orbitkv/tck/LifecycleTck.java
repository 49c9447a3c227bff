package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.orbitkv.api.Descriptor;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Probe;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import io.orbitkv.api.spi.Transport;
import java.net.URI;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Probe, open, quiesce, close: in order, more than once, and with something left. */
public abstract class LifecycleTck extends ProviderTck {
  private static final int ROUNDS = 12;
  private static final long SIZE = 8_192;

  /** For subclasses. */
  protected LifecycleTck() {}

  @Test
  void probeTellsAReasonAndThrowsNothing() {
    KitContext context = new KitContext(fixture(), 1);
    Probe probe = fixture().provider().probe(context.options());
    assertThat(probe.usable()).as("%s; %s", probe.detail(), probe.fix()).isTrue();
    assertThat(probe.detail()).isNotBlank().doesNotContain("\n");
    assertThat(fixture().provider().probe(context.options()).usable()).isTrue();
  }

  @Test
  void epochIsTheIssuersAndEachEngineHasItsOwn() {
    Transport owner = pair().owner().transport();
    Transport requester = pair().requester().transport();
    assertThat(owner.epoch()).isEqualTo(pair().owner().context().receipts().epoch());
    assertThat(owner.epoch()).isNotEqualTo(requester.epoch());
    assertThat(owner.endpoint()).isEqualTo(owner.endpoint()).isNotEqualTo(requester.endpoint());
    assertThat(owner.peerBytes()).hasSizeLessThanOrEqualTo(4_096).isEqualTo(owner.peerBytes());
    assertThat(pair().connect().epoch()).isEqualTo(owner.epoch());
  }

  @Test
  void openAndCloseLeaveNothingBehind() {
    round();
    int before = openDescriptors();
    for (int i = 0; i < ROUNDS; i++) {
      round();
    }
    // Other threads of this process may have a file open for a moment.
    Await.until(
        "file descriptors back at " + before + " after " + ROUNDS + " rounds",
        () -> openDescriptors() < before + ROUNDS);
  }

  private void round() {
    try (EnginePair two = EnginePair.open(fixture(), 4)) {
      Region source = two.owner().register(two.owner().memory(SIZE).fill(1));
      Region target = two.requester().register(two.requester().memory(SIZE));
      Peer peer = two.connect();
      Ticket ticket =
          two.requester()
              .read(
                  peer, EnginePair.whole(peer.importRegion(two.admit(source).wireForm()), target));
      assertThat(Await.outcome(ticket).completed()).isTrue();
    }
  }

  private static int openDescriptors() {
    String[] names = new java.io.File("/proc/self/fd").list();
    return Objects.requireNonNull(names, "no /proc/self/fd").length;
  }

  @Test
  void secondCloseOfAServiceDoesNothing() {
    Peer peer = pair().connect();
    peer.close();
    peer.close();
    Transport requester = pair().requester().transport();
    requester.quiesce();
    requester.close();
    requester.close();
    assertRefused(FaultCode.CLOSING, () -> connectAgain(requester));
  }

  private void connectAgain(Transport transport) {
    Transport owner = pair().owner().transport();
    var _ = transport.connect(owner.endpoint(), owner.epoch(), owner.peerBytes());
  }

  @Test
  void closeWithARegistrationIsRefusedAndCanBeRepeated() {
    KitEngine owner = pair().owner();
    Registration registration = owner.registration(owner.memory(SIZE), Permission.READ);
    assertRefused(FaultCode.IN_USE, owner.transport()::close);
    // Refused, so everything stays: a hold can still be had.
    SourceHold hold = pair().admit(registration.region());
    assertRefused(FaultCode.IN_USE, owner.transport()::close);
    hold.revoke();
    var _ = owner.spend(hold);
    registration.close();
    owner.forget(registration);
    owner.transport().close();
  }

  @Test
  void closeWithAnUndrainedTicketIsRefused() {
    Region source = pair().owner().register(pair().owner().memory(SIZE).fill(2));
    Region target = pair().requester().register(pair().requester().memory(SIZE));
    Peer peer = pair().connect();
    Ticket ticket =
        pair()
            .requester()
            .read(
                peer, EnginePair.whole(peer.importRegion(pair().admit(source).wireForm()), target));
    var _ = Await.outcome(ticket);
    assertRefused(FaultCode.IN_USE, pair().requester().transport()::close);
    var _ = pair().requester().spend(ticket);
  }

  @Test
  void quiesceClosesAdmissionForGood() {
    KitEngine owner = pair().owner();
    KitEngine requester = pair().requester();
    Region source = owner.register(owner.memory(SIZE).fill(3));
    Region target = requester.register(requester.memory(SIZE));
    Peer peer = pair().connect();
    SourceHold hold = pair().admit(source);
    var batch = EnginePair.whole(peer.importRegion(hold.wireForm()), target);
    for (int i = 0; i < 3; i++) {
      owner.transport().quiesce();
      requester.transport().quiesce();
      assertRefused(FaultCode.CLOSING, () -> pair().admit(source));
      assertRefused(FaultCode.CLOSING, () -> connectAgain(requester.transport()));
      assertRefused(FaultCode.CLOSING, () -> requester.read(peer, batch));
    }
    for (var receipt :
        owner.transport().closeSource(System.nanoTime() + TimeUnit.SECONDS.toNanos(2))) {
      var _ = owner.spend(hold, receipt);
    }
    assertRefused(FaultCode.CLOSING, () -> pair().admit(source));
    assertThat(requester.context().places()).isZero();
  }

  @Test
  void workThatHasBegunGoesOnAfterQuiesce() {
    needs(Behaviour.STALL);
    long bytes = 1 << 20;
    Region source = pair().owner().register(pair().owner().memory(bytes).fill(4));
    GuardedMemory memory = pair().requester().memory(bytes);
    Region target = pair().requester().register(memory);
    Peer peer = pair().connect();
    pair().lever().stallAfter(bytes / 4);
    var batch = EnginePair.whole(peer.importRegion(pair().admit(source).wireForm()), target);
    Ticket ticket = pair().requester().read(peer, batch);
    pair().requester().transport().quiesce();
    pair().lever().resume();
    assertThat(Await.outcome(ticket).completed()).isTrue();
    memory.assertHolds("destination", GuardedMemory.pattern(4, bytes));
  }

  @Test
  void foreignEndpointIsRefused() {
    Transport requester = pair().requester().transport();
    URI foreign = URI.create("orbitkv-tck-no-such-scheme://127.0.0.1:1");
    assertRefused(
        FaultCode.INVALID,
        () -> requester.connect(foreign, pair().owner().transport().epoch(), new byte[0]));
  }

  @Test
  void closeSourceWithoutHoldsReturnsAtOnce() {
    Transport owner = pair().owner().transport();
    assertThat(owner.closeSource(System.nanoTime())).isEmpty();
    assertThatCode(() -> owner.closeSource(System.nanoTime())).doesNotThrowAnyException();
  }

  @Test
  void closeSourceReturnsTheReceiptOfEveryHold() {
    KitEngine owner = pair().owner();
    Region source = owner.register(owner.memory(SIZE));
    SourceHold[] holds = new SourceHold[5];
    Arrays.setAll(
        holds,
        i ->
            owner.admit(
                pair().requester().transport().epoch(), Descriptor.of(source.id(), i * 64L, 64)));
    var receipts = owner.transport().closeSource(System.nanoTime() + TimeUnit.SECONDS.toNanos(2));
    assertThat(receipts).hasSize(holds.length);
    for (SourceHold hold : holds) {
      assertThat(hold.drain()).as("a hold whose receipt was returned").isEmpty();
      var _ =
          owner.spend(
              hold,
              receipts.stream()
                  .filter(receipt -> receipt.subject().equals(hold.grant()))
                  .findFirst()
                  .orElseThrow());
    }
  }
}
