package io.orbitkv.manager.grant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.ffm.PageSize;
import io.orbitkv.manager.catalog.Catalog;
import io.orbitkv.manager.control.Completion;
import io.orbitkv.manager.control.GrantOffer;
import io.orbitkv.manager.control.GrantRequest;
import io.orbitkv.manager.control.PeerHello;
import io.orbitkv.manager.memory.Pool;
import io.orbitkv.manager.transfer.DrainCoordinator;
import io.orbitkv.manager.transfer.ReceiptCounters;
import io.orbitkv.tck.reference.Lever;
import io.orbitkv.tck.reference.ReferenceContext;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GrantAuthorityTest {
  private static final long PAGE = PageSize.bytes();

  private final Pool pool = new Pool(8 * PAGE);
  private final Catalog catalog = new Catalog(pool);
  private final ReferenceContext context = ReferenceContext.create();
  private final Transport transport = context.open(new Lever());
  private final DrainCoordinator coordinator =
      new DrainCoordinator(context.receipts(), new ReceiptCounters(), TimeUnit.SECONDS.toNanos(10));
  private final List<GrantId> revoked = new CopyOnWriteArrayList<>();
  private final PeerHello self = hello("self", transport.epoch());
  private final PeerHello b = hello("b", Epoch.random());
  private final PeerHello c = hello("c", Epoch.random());
  private final GrantAuthority authority =
      new GrantAuthority(
          catalog,
          transport,
          context.receipts(),
          coordinator,
          new GrantLimits(2, 4 * PAGE, TimeUnit.HOURS.toNanos(1)),
          () -> self,
          (_, grant) -> revoked.add(grant));

  private long lastTicket;

  @BeforeEach
  void publish() {
    transport.register(pool.arenas().get(0).region());
    for (String text : List.of("x", "y")) {
      catalog.seal(name(text), catalog.reserve(PAGE, "publish"));
    }
  }

  @AfterEach
  void end() {
    authority.close();
    coordinator.close();
  }

  private static PeerHello hello(String name, Epoch transport) {
    return new PeerHello(
        Epoch.random(),
        name,
        "127.0.0.1:1",
        "reference",
        transport,
        URI.create("reference://" + transport),
        new byte[0]);
  }

  private static BlockName name(String text) {
    return BlockName.of("test", text.getBytes(StandardCharsets.UTF_8));
  }

  private GrantRequest request(PeerHello peer, String... names) {
    return new GrantRequest(
        new TicketId(++lastTicket, peer.managerEpoch()),
        peer.transportEpoch(),
        transport.epoch(),
        List.of(names).stream().map(GrantAuthorityTest::name).toList());
  }

  private static Completion completion(GrantRequest request, GrantId grant) {
    return new Completion(grant, request.ticket(), "Completed", Evidence.LOCAL_QUIESCED);
  }

  private static void assertFault(FaultCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  private int holds() {
    return pool.usage().holds();
  }

  @Test
  void theSameRequestGetsTheSameGrant() {
    GrantRequest request = request(b, "x", "nobody's", "y");
    GrantOffer first = authority.authorize(b, request);
    assertThat(first.ranges()).extracting(GrantOffer.GrantedRange::nameIndex).containsExactly(0, 2);
    assertThat(authority.authorize(b, request)).isSameAs(first);
    assertThat(holds()).isEqualTo(2);
  }

  @Test
  void aRequestThatIsRepeatedAfterItsGrantEndedGetsNoSecondOne() {
    GrantRequest request = request(b, "x");
    GrantOffer offer = authority.authorize(b, request);
    authority.complete(b, completion(request, offer.grant()));
    assertThat(holds()).isZero();
    assertFault(FaultCode.GRANT_ENDED, () -> authority.authorize(b, request));
    assertThat(holds()).isZero();
  }

  @Test
  void aCompletionOfAnotherGenerationOrPeerChangesNothing() {
    GrantRequest request = request(b, "x");
    GrantId grant = authority.authorize(b, request).grant();
    GrantId old = new GrantId(grant.id(), grant.generation() - 1, grant.epoch());
    authority.complete(b, completion(request, old));
    authority.complete(c, completion(request, grant));
    assertThat(holds()).isEqualTo(1);
    authority.complete(b, completion(request, grant));
    authority.complete(b, completion(request, grant));
    assertThat(holds()).isZero();
  }

  @Test
  void anotherEpochIsRefusedBeforeAnythingIsPinned() {
    TicketId ticket = new TicketId(1, b.managerEpoch());
    List<BlockName> names = List.of(name("x"));
    assertFault(
        FaultCode.STALE_EPOCH,
        () ->
            authority.authorize(
                b, new GrantRequest(ticket, b.transportEpoch(), Epoch.random(), names)));
    assertFault(
        FaultCode.DENIED,
        () ->
            authority.authorize(
                b, new GrantRequest(ticket, c.transportEpoch(), transport.epoch(), names)));
    assertFault(
        FaultCode.DENIED,
        () ->
            authority.authorize(
                c, new GrantRequest(ticket, c.transportEpoch(), transport.epoch(), names)));
    assertThat(holds()).isZero();
  }

  @Test
  void aPeersLimitsAreItsOwn() {
    authority.authorize(b, request(b, "x"));
    authority.authorize(b, request(b, "x"));
    assertFault(FaultCode.EXHAUSTED, () -> authority.authorize(b, request(b, "x")));
    assertThat(holds()).isEqualTo(2);
    authority.authorize(c, request(c, "x"));
    authority.peerLost(b);
    assertThat(holds()).as("C's grant is untouched").isEqualTo(1);
    authority.authorize(b, request(b, "y"));
  }

  @Test
  void aBlockThatIsNamedTwiceIsRefused() {
    assertFault(FaultCode.INVALID, () -> authority.authorize(b, request(b, "x", "y", "x")));
    assertThat(holds()).isZero();
  }

  @Test
  void whatFitsIsGrantedAndTheRestIsLeftOut() {
    for (String text : List.of("p", "q", "r", "s")) {
      catalog.seal(name(text), catalog.reserve(PAGE, "publish"));
    }
    GrantOffer offer = authority.authorize(b, request(b, "p", "q", "r", "s", "x"));
    assertThat(offer.ranges()).hasSize(4);
    assertFault(FaultCode.EXHAUSTED, () -> authority.authorize(b, request(b, "x")));
    assertThat(holds()).isEqualTo(4);
  }

  @Test
  void whatNobodyHasIsNotGranted() {
    assertFault(FaultCode.NOT_FOUND, () -> authority.authorize(b, request(b, "nobody's")));
  }

  @Test
  void aPeerWithAnotherBackendIsRefusedNamingBoth() {
    PeerHello other =
        new PeerHello(
            Epoch.random(),
            "other",
            "127.0.0.1:2",
            "orbitte-rdma",
            Epoch.random(),
            URI.create("orbitte+rdma://127.0.0.1:2"),
            new byte[0]);
    assertThatThrownBy(() -> authority.accept(other))
        .hasMessageContaining("orbitte-rdma")
        .hasMessageContaining("reference");
  }

  @Test
  void aClosedAuthorityGrantsNothingAndHasToldItsPeers() {
    GrantId grant = authority.authorize(b, request(b, "x")).grant();
    authority.close();
    assertThat(revoked).containsExactly(grant);
    assertThat(holds()).isZero();
    assertFault(FaultCode.CLOSING, () -> authority.authorize(c, request(c, "x")));
  }
}
