package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A requester that does not keep to what it was granted (BB-09, BB-10). */
class HostileRequesterTest {
  private static final int BYTES = 256 << 10;

  @RegisterExtension final Rig rig = new Rig();

  // Guard: TcpSourceHold.enter comparing the requester, and GrantTable forgetting what has ended.
  @Test
  void grantIsGoodForItsRequesterAndUntilItsEndOnly() throws IOException {
    ManagerProcess a =
        rig.manager("a", "--pool-bytes", "2MiB", "--max-pinned-bytes-per-peer", "2MiB");
    Page page = new Page(1, 0, 1, BYTES);
    try (Engine engine = a.engine();
        RawControl control = RawControl.connect(a)) {
      engine.store(List.of(page));
      Offer offer = control.authorize(List.of(page));
      try (RawRequester own = greeted(a, control.transportEpoch());
          RawRequester other = greeted(a, Epoch.random())) {
        own.read(offer, 0, BYTES);
        Reply right = own.reply();
        assertThat(right.kind()).isEqualTo(Reply.DATA);
        assertThat(page.firstWrongByte(right.payload())).isEqualTo(-1);

        other.read(offer, 0, BYTES);
        refused(other.reply(), FaultCode.DENIED);

        own.read(offer, 1, BYTES);
        refused(own.reply(), FaultCode.INVALID);

        control.complete(offer);
        Await.until(
            "the grant has its receipt",
            Duration.ofSeconds(10),
            () -> a.status().number("receipts_source.LOCAL_QUIESCED") == 1);
        own.read(offer, 0, BYTES);
        refused(own.reply(), FaultCode.GRANT_ENDED);

        // The memory has other bytes now, and another generation.
        engine.store(Page.of(2, 1, 8, BYTES).toList());
        own.read(offer, 0, BYTES);
        refused(own.reply(), FaultCode.GRANT_ENDED);
      }
    }
    a.awaitQuiet();
  }

  // Guard: the checked sums of ReadFrame. An offset that wraps must not become an address.
  @Test
  void rangesThatOverflowEndTheConnection() throws IOException {
    ManagerProcess a = rig.manager("a");
    Page page = new Page(1, 0, 1, BYTES);
    try (Engine engine = a.engine();
        RawControl control = RawControl.connect(a)) {
      engine.store(List.of(page));
      Offer offer = control.authorize(List.of(page));
      for (long offset : new long[] {Long.MAX_VALUE - 1, -1, Long.MIN_VALUE}) {
        try (RawRequester hostile = greeted(a, control.transportEpoch())) {
          hostile.read(offer, offset, BYTES);
          Reply reply = hostile.reply();
          assertThat(reply.kind()).isEqualTo(Reply.END);
          assertThat(reply.fault()).isEqualTo(FaultCode.INVALID);
          assertThat(hostile.restOfStream()).isEmpty();
        }
      }
      try (RawRequester hostile = greeted(a, control.transportEpoch())) {
        hostile.read(offer, 1L << 62, BYTES);
        refused(hostile.reply(), FaultCode.INVALID);
        // The connection and the grant are as good as before.
        hostile.read(offer, 0, 4096);
        assertThat(hostile.reply().payload().byteSize()).isEqualTo(4096);
      }
      assertThat(a.status().number("grants.active")).isEqualTo(1);
    }
    // The control stream is gone: so is the grant, by A's own evidence.
    a.awaitQuiet();
  }

  private static RawRequester greeted(ManagerProcess owner, Epoch self) throws IOException {
    RawRequester requester = RawRequester.connect(owner.data());
    requester.hello(self, Epoch.parse(owner.status().text("manager.transport_epoch")));
    requester.accepted();
    return requester;
  }

  private static void refused(Reply reply, FaultCode code) {
    assertThat(reply.kind()).isEqualTo(Reply.REFUSED);
    assertThat(reply.fault()).isEqualTo(code);
    assertThat(reply.payload().byteSize()).isZero();
  }
}
