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
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A network that loses packets in the middle of a read, all of them or the owner's only: nobody
 * closes anything (BB-17).
 */
class LinkLossTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final String PORT = "7403";

  @RegisterExtension final Rig rig = new Rig();

  // Guard: the grant's expiry at A (GrantAuthority.expire) and the read's deadline at B
  // (FetchOperation.expire; the progress timeout is too long to stand in for it), each followed by
  // the shutdown() of a connection whose other end will never answer: OwnerService.endStuckReplies
  // and TcpPeer.endStuckReceive. Without any one of the four an end holds its memory for ever.
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void bothEndsLeaveByTheirOwnClocks(boolean oneWay) {
    assumeTrue(Namespaces.obstacle().isEmpty(), Namespaces.obstacle());
    Namespaces hosts = rig.keep(Namespaces.create());
    String[] limits = {
      "--grant-lifetime", "4s", "--retirement-grace", "1s", "--transfer-progress-timeout", "120s"
    };
    ManagerProcess a =
        rig.launchIn(hosts.on("a"), "a", options(limits, "--host", hosts.ipv4("a"), "--port", PORT))
            .awaitReady();
    ManagerProcess b =
        rig.launchIn(
                hosts.on("b"),
                "b",
                options(limits, "--host", hosts.ipv4("b"), "--peers", hosts.ipv4("a") + ":" + PORT))
            .awaitReady();
    b.awaitPeer(a);
    List<Page> pages = Page.of(1, 1, 24, 1 << 20).toList();
    try (Engine engine = a.engine()) {
      engine.store(pages);
    }
    hosts.slow("a", "40mbit");
    QueryOptions options = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(3));
    try (Readers readers = Readers.start(b.socket(), pages, pages.size(), options)) {
      Await.until(
          "B receives", SOON, () -> b.status().number("transport.received_bytes") > 1 << 20);
      assertThat(a.status().number("grants.active")).isPositive();
      if (oneWay) {
        hosts.mute("a");
      } else {
        hosts.unplug();
      }
      Await.until("B is answered", SOON, () -> readers.rounds() > 0);
    }
    assertThat(b.awaitQuiet().number("receipts_destination.LOCAL_QUIESCED")).isPositive();
    // Sooner than the keepalive of the control stream, which would retire the grant as well.
    assertThat(a.awaitQuiet(Duration.ofSeconds(6)).number("receipts_source.LOCAL_QUIESCED"))
        .isPositive();
    assertThat(a.terminate(Duration.ofSeconds(15))).isZero();
    assertThat(b.terminate(Duration.ofSeconds(15))).isZero();
  }

  private static String[] options(String[] limits, String... more) {
    String[] all = new String[limits.length + more.length];
    System.arraycopy(limits, 0, all, 0, limits.length);
    System.arraycopy(more, 0, all, limits.length, more.length);
    return all;
  }
}
