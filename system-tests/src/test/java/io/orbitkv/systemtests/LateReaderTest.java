package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.manager.control.proto.Offer;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.RawControl;
import io.orbitkv.systemtests.rig.RawRequester;
import io.orbitkv.systemtests.rig.RawRequester.Reply;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.Status;
import io.orbitkv.systemtests.rig.TcpProxy;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A grant that ends while its owner's send is still running: the proxy holds the reply, and the
 * pool has room for two pages, so that the source would be reused at once. The late reader must
 * still get the bytes that it was granted, or none.
 */
class LateReaderTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  /** More than the kernel takes from a send whose reader takes nothing. */
  private static final int BYTES = 8 << 20;

  private static final int HELD = 32 << 10;
  private static final Page GRANTED = new Page(1, 0, 1, BYTES);

  @RegisterExtension final Rig rig = new Rig();

  enum End {
    /** The requester says that it is done. */
    COMPLETE,
    /** The grant's time is over. */
    EXPIRY,
    /** The requester's control stream is gone. */
    PEER_LOST
  }

  // Guard: GrantAuthority.retire waiting for the provider's receipt; TcpSourceHold.drained, which
  // is not true while a handler is inside; Gate.enter refusing what comes after the retirement.
  @ParameterizedTest
  @EnumSource
  void whatIsStillSentIsGivenToNobody(End end) throws IOException {
    ManagerProcess a =
        owner("--retirement-grace", "40s", "--grant-lifetime", end == End.EXPIRY ? "4s" : "60s");
    TcpProxy proxy = rig.keep(TcpProxy.to(a.data()));
    try (Engine engine = a.engine();
        RawControl control = RawControl.connect(a)) {
      engine.store(List.of(GRANTED));
      Offer offer = control.authorize(List.of(GRANTED));
      try (RawRequester reader = greeted(proxy, control);
          RawRequester second = greeted(a.data(), control)) {
        stick(proxy, reader, offer);
        switch (end) {
          case COMPLETE -> control.complete(offer);
          case EXPIRY -> control.awaitRevoked(offer);
          case PEER_LOST -> control.hangUp();
        }
        Await.until("the grant is retired", SOON, () -> a.status().number("grants.active") == 0);

        // Behind the reply that is stuck, and beside it.
        reader.read(offer, 0, BYTES);
        second.read(offer, 0, BYTES);
        assertRefused(second.reply());
        assertStillHeld(a, engine);

        proxy.valve().open();
        Reply late = reader.reply();
        assertThat(late.kind()).isEqualTo(Reply.DATA);
        assertThat(GRANTED.firstWrongByte(late.payload())).isEqualTo(-1);
        assertRefused(reader.reply());
      }
      assertThat(a.awaitQuiet().number("receipts_source.LOCAL_QUIESCED")).isEqualTo(1);
      engine.store(Page.of(3, 1, 2, BYTES).toList());
    }
  }

  // Guard: OwnerService.endStuckReplies. Without it a reader that takes nothing holds the source
  // for
  // ever; with the default grace it is 5 s.
  @Test
  void aSendThatNobodyTakesEndsByTheGraceAndThenTheSourceIsFree() throws IOException {
    ManagerProcess a = owner();
    TcpProxy proxy = rig.keep(TcpProxy.to(a.data()));
    try (Engine engine = a.engine();
        RawControl control = RawControl.connect(a)) {
      engine.store(List.of(GRANTED));
      Offer offer = control.authorize(List.of(GRANTED));
      try (RawRequester reader = greeted(proxy, control)) {
        stick(proxy, reader, offer);
        control.complete(offer);
        assertStillHeld(a, engine);
        Status after = a.awaitQuiet();
        assertThat(after.number("receipts_source.LOCAL_QUIESCED")).isEqualTo(1);
        // Both halves of the pool have other bytes now; what was on its way has not.
        engine.store(Page.of(3, 1, 2, BYTES).toList());
        proxy.valve().open();
        MemorySegment cut = reader.cutReply();
        assertThat(cut.byteSize()).isBetween(1L, BYTES - 1L);
        assertThat(GRANTED.firstWrongByte(cut)).isEqualTo(-1);
      }
    }
  }

  // Guard: GrantAuthority.close telling the requester, without which it hears of no revocation; and
  // Manager.shutdown draining the source, without which the reply behind the stuck one is none.
  @Test
  void aRevokeAtTheOwnersEndLetsTheSendLeaveFirst() throws IOException {
    ManagerProcess a = owner();
    TcpProxy proxy = rig.keep(TcpProxy.to(a.data()));
    try (RawControl control = RawControl.connect(a)) {
      try (Engine engine = a.engine()) {
        engine.store(List.of(GRANTED));
      }
      Offer offer = control.authorize(List.of(GRANTED));
      try (RawRequester reader = greeted(proxy, control);
          RawRequester second = greeted(a.data(), control)) {
        stick(proxy, reader, offer);
        a.requestEnd();
        control.awaitRevoked(offer);
        second.read(offer, 0, BYTES);
        assertRefused(second.reply());
        assertThat(a.awaitExit(SOON)).isZero();
        assertThat(a.log()).doesNotContain("ERROR").doesNotContain("stays held");
        proxy.valve().open();
        assertThat(GRANTED.firstWrongByte(reader.cutReply())).isEqualTo(-1);
      }
    }
  }

  private ManagerProcess owner(String... options) {
    String[] all = new String[options.length + 4];
    all[0] = "--pool-bytes";
    all[1] = Integer.toString(2 * BYTES);
    all[2] = "--max-pinned-bytes-per-peer";
    all[3] = Integer.toString(2 * BYTES);
    System.arraycopy(options, 0, all, 4, options.length);
    return rig.manager("a", all);
  }

  /** Asks for the whole page; returns when the owner's send of it can not go on. */
  private static void stick(TcpProxy proxy, RawRequester reader, Offer offer) throws IOException {
    long before = proxy.valve().total();
    proxy.valve().holdAfter(HELD);
    reader.read(offer, 0, BYTES);
    Await.until("the send is stuck", SOON, () -> proxy.valve().total() >= before + HELD);
  }

  /** Uses all of the pool but the half that is sent, which nobody can have, whatever he asks. */
  private static void assertStillHeld(ManagerProcess a, Engine engine) {
    List<Page> others = Page.of(2, 1, 3, BYTES).toList();
    others.forEach(page -> engine.store(List.of(page)));
    try (BlockLease _ = engine.lease(List.of(others.getLast()), QueryOptions.LOCAL)) {
      PublishResult refused = engine.publish(Page.of(4, 1, 1, BYTES).toList()).getFirst();
      assertThat(refused.status()).isEqualTo(PublishResult.Status.FAULT);
      assertThat(refused.code()).isEqualTo(FaultCode.EXHAUSTED);
    }
    Status held = a.status();
    assertThat(held.holds("source")).isEqualTo(1);
    assertThat(held.number("grants.retired") + held.number("grants.quarantined")).isEqualTo(1);
    assertThat(held.number("receipts_source.LOCAL_QUIESCED")).isZero();
  }

  private static void assertRefused(Reply reply) {
    assertThat(reply.kind()).isEqualTo(Reply.REFUSED);
    assertThat(reply.fault()).isEqualTo(FaultCode.GRANT_ENDED);
    assertThat(reply.payload().byteSize()).isZero();
  }

  private static RawRequester greeted(TcpProxy proxy, RawControl control) throws IOException {
    return greeted(new InetSocketAddress(InetAddress.getLoopbackAddress(), proxy.port()), control);
  }

  private static RawRequester greeted(InetSocketAddress where, RawControl control)
      throws IOException {
    Epoch self = control.transportEpoch();
    return RawRequester.greeted(where, self, control.owner());
  }
}
