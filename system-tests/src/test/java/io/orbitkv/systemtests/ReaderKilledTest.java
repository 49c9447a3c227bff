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
    Readers victim = readers(pair.b(), pages, Duration.ofSeconds(20));
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

  // Guard: one hold for each grant (BB-03). With one for both, the word of the first would free
  // what
  // the second still reads.
  @Test
  void twoReadersOfOneBlockAreTwoHolds() {
    Rig.ProxiedPair pair = rig.proxied("--transfer-progress-timeout", "60s");
    ManagerProcess a = pair.a();
    List<Page> pages = Page.of(1, 1, 12, 1 << 20).toList();
    try (Engine engine = a.engine()) {
      engine.store(pages);
    }
    pair.data().valve().holdAfter(HELD);
    Readers slow = readers(pair.b(), pages, Duration.ofSeconds(60));
    Await.until("A sends and is stuck", SOON, () -> pair.data().valve().total() >= HELD);
    long held = a.status().holds("source");
    assertThat(held).isPositive();

    ManagerProcess c = rig.manager("c", "--peers", a.control());
    c.awaitPeer(a);
    try (Engine engine = c.engine()) {
      assertThat(engine.read(pages, QueryOptions.FETCH)).hasSize(pages.size());
    }
    Await.until("only the grant of B is open", SOON, () -> a.status().number("grants.active") == 1);
    assertThat(a.status().holds("source")).isEqualTo(held);
    // A can not use the pages again: they are of a reader that is merely slow.
    try (Engine engine = a.engine()) {
      engine.publish(Page.of(2, 1, 128, 1 << 20).toList());
      assertThat(a.status().holds("source")).isEqualTo(held);
      pair.data().valve().open();
      Await.until("B has its pages", SOON, () -> slow.hits() >= pages.size());
    }
    slow.close();
    a.awaitQuiet();
    pair.b().awaitQuiet();
  }

  private static Readers readers(ManagerProcess b, List<Page> pages, Duration deadline) {
    return Readers.start(
        b.socket(), pages, pages.size(), QueryOptions.FETCH.withDeadline(deadline));
  }
}
