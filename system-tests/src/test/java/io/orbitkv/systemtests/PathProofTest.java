package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.orbitkv.adapter.Origin;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.Status;
import io.orbitkv.systemtests.rig.TcpInfo;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which way the bytes went, by three witnesses: both Managers and the kernel (BB-33). */
class PathProofTest {
  private static final int BLOCKS = 48;
  private static final int BLOCK_BYTES = 1 << 20;
  private static final long BYTES = (long) BLOCKS * BLOCK_BYTES;
  private static final Percentage FRAMES = Percentage.withPercentage(2);

  @RegisterExtension final Rig rig = new Rig();

  // Guard: Lane counting what it received and OwnerConnection what it sent, once each; and no other
  // way for a block to come from a peer than the backend that was asked for.
  @Test
  void bytesGoByTheConnectionsOfTheBackendThatWasAskedForAndByNoOther() {
    assumeTrue(TcpInfo.obstacle().isEmpty(), TcpInfo.obstacle());
    ManagerProcess a = rig.manager("a", "--peer-transfer-backend", "orbitte-tcp");
    ManagerProcess b =
        rig.manager("b", "--peer-transfer-backend", "orbitte-tcp", "--peers", a.control());
    b.awaitPeer(a);
    List<Page> pages = Page.of(1, 1, BLOCKS, BLOCK_BYTES).toList();
    try (Engine engine = a.engine();
        Engine reader = b.engine()) {
      engine.store(pages);
      assertThat(reader.read(pages, QueryOptions.FETCH))
          .hasSize(BLOCKS)
          .containsValue(Origin.PEER)
          .doesNotContainValue(Origin.LOCAL);
    }
    Status owner = a.awaitQuiet();
    Status requester = b.awaitQuiet();
    for (Status status : List.of(owner, requester)) {
      assertThat(status.text("manager.backend")).isEqualTo("orbitte-tcp");
      assertThat(status.text("manager.endpoint")).startsWith("orbitte+tcp://");
    }
    assertThat(requester.number("reads.peer_bytes")).isEqualTo(BYTES);
    assertThat(requester.number("transport.received_bytes")).isEqualTo(BYTES);
    assertThat(requester.number("transport.sent_bytes")).isZero();
    assertThat(owner.number("transport.sent_bytes")).isEqualTo(BYTES);
    assertThat(owner.number("transport.received_bytes")).isZero();

    List<TcpInfo> payload = TcpInfo.to(a.data().getPort());
    assertThat(payload).hasSize((int) requester.number("transport.outgoing_connections"));
    assertThat(payload.stream().mapToLong(TcpInfo::received).sum()).isCloseTo(BYTES, FRAMES);
    assertThat(payload.stream().mapToLong(TcpInfo::acknowledged).sum()).isLessThan(BYTES / 50);
    // The control stream carries words only.
    assertThat(TcpInfo.to(a.controlPort()).stream().mapToLong(TcpInfo::received).sum())
        .isBetween(1L, BYTES / 50);
  }
}
