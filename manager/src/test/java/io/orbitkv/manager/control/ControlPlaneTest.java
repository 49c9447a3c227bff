package io.orbitkv.manager.control;

import static io.orbitkv.manager.control.ControlPlane.ask;
import static io.orbitkv.manager.control.ControlPlane.at;
import static io.orbitkv.manager.control.ControlPlane.await;
import static io.orbitkv.manager.control.ControlPlane.block;
import static io.orbitkv.manager.control.ControlPlane.members;
import static io.orbitkv.manager.control.ControlPlane.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.ControlPlane.Requester;
import io.orbitkv.manager.membership.ControlAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What two Managers say to each other, over real sockets. */
class ControlPlaneTest {
  private final ControlPlane plane = new ControlPlane();
  private final ScriptedManager a = new ScriptedManager("a:1");
  private final ScriptedManager b = new ScriptedManager("b:2");

  @AfterEach
  void close() {
    b.gate.countDown();
    plane.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "::1"})
  void bothSidesSayHelloAndAnswer(String host) throws Exception {
    ControlServer server = plane.server(b, host, 0);
    Requester requester = plane.requester(a, new ControlAddress(host, server.port()).toString());

    ControlPlane.Event up = requester.next("up");
    assertThat(up.hello()).usingRecursiveComparison().isEqualTo(b.self);
    assertThat(take(b.accepted)).usingRecursiveComparison().isEqualTo(a.self);
    assertThat(take(a.accepted)).usingRecursiveComparison().isEqualTo(b.self);
    assertThat(requester.links().up()).containsExactly(up.link());
    assertThat(requester.links().up(b.epoch)).isSameAs(up.link());
    assertThat(up.link().hello()).contains(up.hello());

    assertThat(get(up.link().locate(List.of(block(1), block(0), block(2)))))
        .containsExactly(4_096, -1, 4_096);
    GrantRequest request = ask(a, 7, b.self);
    GrantOffer offer = get(up.link().authorize(request));
    assertThat(take(b.requests)).isEqualTo(request);
    assertThat(offer.grant()).isEqualTo(new GrantId(1, 1, b.self.transportEpoch()));
    assertThat(offer.ranges())
        .containsExactly(
            new GrantOffer.GrantedRange(0, 4_096), new GrantOffer.GrantedRange(2, 4_096));
    assertThat(offer.lifetimeNanos()).isEqualTo(60_000_000_000L);
    assertThat(offer.wireForm()).containsExactly(1, 2, 3);
    Completion completion =
        new Completion(offer.grant(), request.ticket(), "Completed", Evidence.LOCAL_COMPLETION);
    get(up.link().complete(completion));
    assertThat(take(b.completions)).isEqualTo(completion);
  }

  @Test
  void theSameTicketAgainIsTheSameGrant() throws Exception {
    PeerLink link = linked();
    GrantOffer first = get(link.authorize(ask(a, 7, b.self)));
    GrantOffer again = get(link.authorize(ask(a, 7, b.self)));
    assertThat(again.grant()).isEqualTo(first.grant());
    assertThat(take(b.requests).ticket()).isEqualTo(take(b.requests).ticket());
    assertThat(b.completions).isEmpty();
  }

  @Test
  void aRefusalCarriesTheOwnersCodeAndHarmsNothing() throws Exception {
    PeerLink link = linked();
    GrantRequest stale =
        new GrantRequest(
            new TicketId(1, a.epoch), a.self.transportEpoch(), Epoch.random(), List.of(block(1)));
    assertFault(link.authorize(stale), FaultCode.STALE_EPOCH, "was replaced");
    assertThat(get(link.locate(List.of(block(1))))).containsExactly(4_096);
  }

  @Test
  void ticketsOfAnotherManagerAreRefused() {
    PeerLink link = linked();
    TicketId foreign = new TicketId(1, Epoch.random());
    assertFault(
        link.authorize(
            new GrantRequest(
                foreign, a.self.transportEpoch(), b.self.transportEpoch(), List.of(block(1)))),
        FaultCode.STALE_EPOCH,
        foreign.epoch().toString());
    assertFault(
        link.complete(
            new Completion(
                new GrantId(1, 1, b.self.transportEpoch()),
                foreign,
                "Failed",
                Evidence.NEVER_SUBMITTED)),
        FaultCode.STALE_EPOCH,
        foreign.epoch().toString());
    assertThat(b.requests).isEmpty();
    assertThat(b.completions).isEmpty();
  }

  @Test
  void aStoppedServerSaysSoAndItsSuccessorIsUpByItself() throws Exception {
    ControlServer server = plane.server(b);
    Requester requester = plane.requester(a, at(server));
    PeerLink link = requester.next("up").link();
    server.stop();
    server.stop();
    assertThat(requester.next("down").detail()).contains("on its way down");
    assertThat(take(b.lost).managerEpoch()).isEqualTo(a.epoch);
    assertFault(link.locate(List.of(block(1))), FaultCode.PEER_LOST, "no stream to peer");

    ScriptedManager successor = new ScriptedManager("b:3");
    plane.server(successor, "127.0.0.1", server.port());
    ControlPlane.Event up = requester.next("up");
    assertThat(up.hello().managerEpoch()).isEqualTo(successor.epoch);
    assertThat(up.link()).isSameAs(link);
    assertThat(get(link.locate(List.of(block(1))))).containsExactly(4_096);
  }

  @Test
  void whatWaitsFailsWhenTheStreamEnds() {
    ControlServer server = plane.server(b);
    Requester requester = plane.requester(a, at(server));
    PeerLink link = requester.next("up").link();
    b.gate = new CountDownLatch(1);
    CompletableFuture<GrantOffer> first = link.authorize(ask(a, 1, b.self));
    CompletableFuture<long[]> second = link.locate(List.of(block(1)));
    take(b.requests);

    long removed = System.nanoTime();
    requester.links().setMembers(members());
    assertThat(requester.next("down").detail()).isEqualTo("it is no member any more");
    assertThat(System.nanoTime() - removed).isLessThan(Duration.ofSeconds(5).toNanos());
    assertFault(first, FaultCode.PEER_LOST, "was lost before it answered Authorize");
    assertFault(second, FaultCode.PEER_LOST, "was lost before it answered Locate");
    assertFault(link.locate(List.of(block(1))), FaultCode.PEER_LOST, "no stream to peer");
    assertThat(requester.links().up()).isEmpty();
    b.gate.countDown();
    assertThat(take(b.lost).managerEpoch()).isEqualTo(a.epoch);
  }

  @Test
  void aLateGrantIsGivenBack() {
    PeerLink link = linked(Duration.ofMillis(200));
    b.gate = new CountDownLatch(1);
    CompletableFuture<GrantOffer> late = link.authorize(ask(a, 5, b.self));
    assertFault(late, FaultCode.PEER_LOST, "did not answer Authorize within 200 ms");
    b.gate.countDown();

    Completion unused = take(b.completions);
    assertThat(unused.ticket()).isEqualTo(new TicketId(5, a.epoch));
    assertThat(unused.grant()).isEqualTo(new GrantId(1, 1, b.self.transportEpoch()));
    assertThat(unused.evidence()).isEqualTo(Evidence.NEVER_SUBMITTED);
  }

  @Test
  void aGrantThatItsAskerForgotIsGivenBack() {
    PeerLink link = linked();
    b.gate = new CountDownLatch(1);
    assertThat(link.authorize(ask(a, 6, b.self)).cancel(false)).isTrue();
    b.gate.countDown();
    assertThat(take(b.completions).ticket()).isEqualTo(new TicketId(6, a.epoch));
  }

  @Test
  void aLateGrantThatWasAskedForAgainIsKept() throws Exception {
    PeerLink link = linked(Duration.ofSeconds(2));
    b.gate = new CountDownLatch(1);
    CompletableFuture<GrantOffer> late = link.authorize(ask(a, 5, b.self));
    assertFault(late, FaultCode.PEER_LOST, "did not answer");
    CompletableFuture<GrantOffer> again = link.authorize(ask(a, 5, b.self));
    b.gate.countDown();

    assertThat(get(again).grant().id()).isEqualTo(1);
    get(link.locate(List.of(block(1))));
    assertThat(b.completions).isEmpty();
  }

  @Test
  void aRevokedGrantIsToldToItsPeerOnly() {
    ControlServer server = plane.server(b);
    ScriptedManager other = new ScriptedManager("c:3");
    Requester requester = plane.requester(a, at(server));
    Requester bystander = plane.requester(other, at(server));
    requester.next("up");
    bystander.next("up");
    GrantId grant = new GrantId(3, 17, b.self.transportEpoch());
    server.announceRevoked(a.epoch, grant);
    assertThat(requester.next("revoked").detail()).isEqualTo(grant.toString());
    assertThat(bystander.events()).isEmpty();
  }

  @Test
  void anOwnersNewTransportIsAnotherPeer() {
    ControlServer server = plane.server(b);
    Requester requester = plane.requester(a, at(server));
    requester.next("up");
    PeerHello before = b.self;
    b.self = b.withNewTransport();
    server.announceEndpoint(b.self);
    assertThat(requester.next("down").hello().transportEpoch()).isEqualTo(before.transportEpoch());
    assertThat(requester.next("up").hello()).usingRecursiveComparison().isEqualTo(b.self);
    server.announceEndpoint(b.self);
    server.announceRevoked(a.epoch, new GrantId(1, 1, b.self.transportEpoch()));
    requester.next("revoked");
  }

  @Test
  void aRequestersNewTransportIsAnotherPeer() {
    ControlServer server = plane.server(b);
    Requester requester = plane.requester(a, at(server));
    requester.next("up");
    PeerHello before = take(b.accepted);
    a.self = a.withNewTransport();
    requester.links().announceEndpoint(a.self);
    assertThat(take(b.lost).transportEpoch()).isEqualTo(before.transportEpoch());
    assertThat(take(b.accepted)).usingRecursiveComparison().isEqualTo(a.self);
  }

  @Test
  void aManagerHasNoLinkToItself() {
    ControlServer own = plane.server(a);
    ControlServer server = plane.server(b);
    Requester requester = plane.requester(a, at(own), at(server));
    assertThat(requester.next("up").hello().managerEpoch()).isEqualTo(b.epoch);
    assertThat(requester.links().up()).hasSize(1);
    assertThat(a.lost).isEmpty();
  }

  @Test
  void aPeerWithTwoAddressesIsOnePeer() {
    ControlServer server = plane.server(b, "::", 0);
    String one = "127.0.0.1:" + server.port();
    String other = "[::1]:" + server.port();
    Requester requester = plane.requester(a, one, other);
    String first = requester.next("up").link().address();
    // The second address takes over when the first is gone.
    await("accepted twice", () -> b.accepted.size() >= 2);
    requester.links().setMembers(members(first.equals(one) ? other : one));
    requester.next("down");
    assertThat(requester.next("up").link().address()).isEqualTo(first.equals(one) ? other : one);
  }

  @Test
  void tooMuchAtOnceIsRefusedBeforeItIsSent() throws Exception {
    PeerLink link = linked();
    List<BlockName> names = new ArrayList<>();
    for (int i = 0; i < 65_537; i++) {
      names.add(block(1, i, i >> 8, i >> 16));
    }
    assertFault(link.locate(names), FaultCode.INVALID, "65537 names");
    List<BlockName> long255 = new ArrayList<>();
    for (int i = 0; i < 40_000; i++) {
      long255.add(BlockName.of("n" + i + "x".repeat(240), new byte[255]));
    }
    assertFault(link.locate(long255), FaultCode.INVALID, "the limit is 16777216");
    assertThat(get(link.locate(names.subList(1, 65_537)))).hasSize(65_536);
  }

  @Test
  void aGrantTooLargeToSayIsCompletedByItsOwner() {
    PeerLink link = linked();
    b.wireForm = new byte[(4 << 20) + 1];
    assertFault(link.authorize(ask(a, 1, b.self)), FaultCode.INTERNAL, "the limit is 4194304");
    assertThat(take(b.completions).evidence()).isEqualTo(Evidence.NEVER_SUBMITTED);
  }

  @Test
  void aPortInUseIsNamed() {
    ControlServer server = plane.server(b);
    assertThatThrownBy(() -> plane.server(a, "127.0.0.1", server.port()))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.DEVICE))
        .hasMessageContaining("127.0.0.1:" + server.port())
        .hasMessageContaining("in use")
        .hasMessageContaining("give another port")
        .message()
        .doesNotContain("\n");
  }

  private PeerLink linked() {
    return linked(Duration.ofSeconds(10));
  }

  private PeerLink linked(Duration timeout) {
    ControlServer server = plane.server(b);
    return plane.requester(a, timeout, ControlSecurity.plaintext(), at(server)).next("up").link();
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.get(ControlPlane.PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  private static void assertFault(Future<?> future, FaultCode code, String text) {
    assertThatThrownBy(() -> get(future))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOfSatisfying(TransportException.class, e -> assertThat(e.code()).isEqualTo(code))
        .hasMessageContaining(text);
  }
}
