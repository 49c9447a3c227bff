package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Readers;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.Status;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A source that sends by sendfile, and a reader that stands still or dies. */
class SendfileTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int HELD = 2 << 20;
  private static final List<Page> PAGES = Page.of(1, 1, 24, 1 << 20).toList();

  @RegisterExtension final Rig rig = new Rig();

  private Rig.ProxiedPair stuckRead() {
    List<String> ofB = List.of("--retirement-grace", "1s");
    Rig.ProxiedPair pair =
        rig.proxied(List.of("--retirement-grace", "1s", "--orbitte-tcp-source", "sendfile"), ofB);
    try (Engine engine = pair.a().engine()) {
      engine.store(PAGES);
    }
    pair.data().valve().holdAfter(HELD);
    return pair;
  }

  private static Readers reader(ManagerProcess b) {
    return Readers.start(
        b.socket(), PAGES, PAGES.size(), QueryOptions.FETCH.withDeadline(Duration.ofSeconds(20)));
  }

  private static void signal(ManagerProcess manager, String name) throws IOException {
    int exit =
        new ProcessBuilder("kill", name, String.valueOf(manager.pid()))
            .start()
            .onExit()
            .join()
            .exitValue();
    assertThat(exit).isZero();
  }

  private static void awaitQuarantine(ManagerProcess a) {
    Await.until("quarantine at A", SOON, () -> a.status().number("quarantine.bytes") > 0);
    Status status = a.status();
    assertThat(status.holds("source")).isPositive();
    assertThat(status.number("transport.sendfile_pinned_bytes")).isPositive();
  }

  // Guard: references.ended in the provider's TcpSourceHold.drained, seen red in its own
  // SendfileTest.
  @Test
  void frozenReaderKeepsTheSourceUntilItSaysItsWord() throws IOException {
    Rig.ProxiedPair pair = stuckRead();
    ManagerProcess a = pair.a();
    try (Readers _ = reader(pair.b())) {
      Await.until("A sends, B is stuck", SOON, () -> pair.data().valve().total() >= HELD);
      signal(pair.b(), "-STOP");
      pair.data().valve().open();
      // Its connections end as if it had died.
      pair.control().cut();
      awaitQuarantine(a);
      signal(pair.b(), "-CONT");
      a.awaitQuiet();
      assertThat(a.status().number("receipts_source.PEER_RECEIPT")).isPositive();
    }
    pair.b().awaitQuiet();
  }

  // Guard: said in the provider's SourceReferences, seen red there; a closed connection alone would
  // free what A's kernel may still read.
  @Test
  void killedReaderLeavesTheSourceInQuarantineAndReadable() {
    Rig.ProxiedPair pair = stuckRead();
    ManagerProcess a = pair.a();
    Readers victim = reader(pair.b());
    Await.until("A sends, B is stuck", SOON, () -> pair.data().valve().total() >= HELD);
    pair.b().kill();
    awaitQuarantine(a);
    ManagerProcess c = rig.manager("c", "--peers", a.control());
    c.awaitPeer(a);
    try (Engine engine = c.engine()) {
      assertThat(engine.read(PAGES, QueryOptions.FETCH)).hasSize(PAGES.size());
    }
    c.awaitQuiet();
    awaitQuarantine(a);
    assertThat(victim.failed()).isTrue();
  }
}
