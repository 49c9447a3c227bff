package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Namespaces;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Readers;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.TcpInfo;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Between two hosts an owner keeps little in its send buffer that was not sent so far: that is what
 * two CPUs would send at the same time, one of them too early.
 */
class UnsentBytesTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final int BLOCK_BYTES = 1 << 20;
  private static final int BLOCKS = 24;

  /** The bound, and the packet that goes over it. */
  private static final long MOST_BYTES = (128 << 10) + (64 << 10);

  @RegisterExtension final Rig rig = new Rig();

  // Guard: OwnerConnection.UNSENT_BYTES. Without it megabytes wait behind so slow a link.
  @Test
  void littleWaitsInTheSendBuffer() {
    assumeTrue(Namespaces.obstacle().isEmpty(), Namespaces.obstacle());
    assumeTrue(TcpInfo.obstacle().isEmpty(), TcpInfo.obstacle());
    Namespaces hosts = rig.keep(Namespaces.create());
    ManagerProcess a =
        rig.launchIn(hosts.on("a"), "a", "--host", hosts.ipv4("a"), "--port", "7403").awaitReady();
    ManagerProcess b =
        rig.launchIn(
                hosts.on("b"), "b", "--host", hosts.ipv4("b"), "--peers", hosts.ipv4("a") + ":7403")
            .awaitReady();
    b.awaitPeer(a);
    List<Page> pages = Page.of(1, 1, BLOCKS, BLOCK_BYTES).toList();
    try (Engine engine = a.engine()) {
      engine.store(pages);
    }
    hosts.slow("a", "100mbit");
    QueryOptions options = QueryOptions.FETCH.withDeadline(SOON);
    AtomicLong most = new AtomicLong();
    try (Readers readers = Readers.start(b.socket(), pages, pages.size(), options)) {
      Await.until(
          "B has the blocks",
          SOON,
          () -> {
            for (TcpInfo end : TcpInfo.at(hosts, "a", a.data().getPort())) {
              most.accumulateAndGet(end.unsent(), Math::max);
            }
            return readers.rounds() > 0;
          });
      assertThat(readers.hits()).isGreaterThanOrEqualTo(BLOCKS);
    }
    assertThat(most.get()).isPositive().isLessThanOrEqualTo(MOST_BYTES);
  }
}
