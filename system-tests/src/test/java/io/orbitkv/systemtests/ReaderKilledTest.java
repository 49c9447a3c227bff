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
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** SIGKILL of a Manager in the middle of a read, and an owner that nobody tells anything. */
class ReaderKilledTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int HELD = 2 << 20;

  @RegisterExtension final Rig rig = new Rig();

  // Guard: GrantAuthority.peerLost, and the handler that leaves its hold when its send fails.
  @Test
  void ownerFreesItsGrantsAndServesOthers() {
    Rig.ProxiedPair pair = rig.proxied("--retirement-grace", "2s");
    ManagerProcess a = pair.a();
    List<Page> pages = Page.of(1, 1, 24, 1 << 20).toList();
    try (Engine engine = a.engine()) {
      engine.store(pages);
    }
    pair.data().valve().holdAfter(HELD);
    Readers victim = readers(pair.b(), pages);
    Await.until("A sends and is stuck", SOON, () -> pair.data().valve().total() >= HELD);
    Status reading = a.status();
    assertThat(reading.number("grants.active")).isPositive();
    assertThat(reading.holds("source")).isPositive();

    pair.b().kill();
    // Within the grace and a little: nobody new has come, and nothing of B says a word.
    Status after = a.awaitQuiet(Duration.ofSeconds(8));
    assertThat(after.number("receipts_source.LOCAL_QUIESCED")).isPositive();
    assertThat(after.number("quarantine.bytes")).isZero();

    ManagerProcess c = rig.manager("c", "--peers", a.control());
    c.awaitPeer(a);
    try (Engine engine = c.engine()) {
      assertThat(engine.read(pages, QueryOptions.FETCH)).hasSize(pages.size());
    }
    a.awaitQuiet();
    c.awaitQuiet();
    assertThat(victim.failed()).isTrue();
  }

  private Readers readers(ManagerProcess b, List<Page> pages) {
    return Readers.start(
        b.socket(), pages, pages.size(), QueryOptions.FETCH.withDeadline(Duration.ofSeconds(20)));
  }
}
