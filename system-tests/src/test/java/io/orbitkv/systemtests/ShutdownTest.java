package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Readers;
import io.orbitkv.systemtests.rig.Rig;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** SIGTERM while blocks are read. */
class ShutdownTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  /** The source close deadline is 5 s; the rest is for two busy cores. */
  private static final Duration END = Duration.ofSeconds(15);

  @RegisterExtension final Rig rig = new Rig();

  // Guard: Manager.shutdown draining before it unmaps: an owner that unmapped under its own send
  // would crash, and exit with 134.
  @Test
  void ownerEndsCleanUnderReads() {
    Rig.Pair pair = rig.pair("--pool-bytes", "96MiB");
    List<Page> pages = Page.of(1, 1, 64, 1 << 20).toList();
    try (Engine engine = pair.a().engine()) {
      engine.store(pages);
    }
    // Twice the pages do not fit: B evicts and reads on.
    List<Page> more = Page.of(2, 1, 64, 1 << 20).toList();
    try (Engine engine = pair.b().engine()) {
      engine.store(more);
    }
    QueryOptions options = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(5));
    try (Readers readers = Readers.start(pair.b().socket(), pages, 4, options)) {
      Await.until("B has read from A", SOON, () -> readers.hits() >= 12);
      assertThat(pair.a().terminate(END)).isZero();
      int answered = readers.rounds();
      Await.until("B reads on", SOON, () -> readers.rounds() > answered + 4);
    }
    pair.b().awaitQuiet();
    assertThat(pair.a().log()).doesNotContain("ERROR");
    assertThat(pair.a().socket()).doesNotExist();
    assertThat(pair.b().terminate(END)).isZero();
    assertThat(rig.registry()).isEmptyDirectory();
  }

  // Guard: tickets of B that run at its own SIGTERM must be drained before its pool is unmapped.
  @Test
  void requesterEndsCleanInTheMiddleOfARead() {
    Rig.ProxiedPair pair = rig.proxied("--retirement-grace", "1s");
    List<Page> pages = Page.of(1, 1, 16, 1 << 20).toList();
    try (Engine engine = pair.a().engine()) {
      engine.store(pages);
    }
    pair.data().valve().slowTo(2 << 20);
    Readers readers =
        Readers.start(
            pair.b().socket(), pages, 16, QueryOptions.FETCH.withDeadline(Duration.ofSeconds(20)));
    Await.until("B reads", SOON, () -> pair.data().valve().total() > 1 << 20);
    assertThat(pair.b().terminate(END)).isZero();
    assertThat(readers.failed()).isTrue();
    pair.data().valve().open();
    pair.a().awaitQuiet();
    assertThat(pair.a().terminate(END)).isZero();
  }

  // Guard: closeSource shutting the connection of a handler that is stuck in its send.
  @Test
  void ownerEndsCleanThoughItsSendIsStuck() {
    Rig.ProxiedPair pair = rig.proxied();
    List<Page> pages = Page.of(1, 1, 24, 1 << 20).toList();
    try (Engine engine = pair.a().engine()) {
      engine.store(pages);
    }
    pair.data().valve().holdAfter(1 << 20);
    QueryOptions options = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(20));
    try (Readers readers = Readers.start(pair.b().socket(), pages, 24, options)) {
      Await.until("A's send is stuck", SOON, () -> pair.data().valve().total() >= 1 << 20);
      assertThat(pair.a().terminate(END)).isZero();
      pair.data().valve().open();
      Await.until("B is answered", SOON, () -> readers.rounds() > 0);
    }
    pair.b().awaitQuiet();
  }

  // Guard: the exit code of a shutdown that found nothing to wait for, and the files it leaves.
  @Test
  void idleManagerEndsAtOnce() {
    Rig.Pair pair = rig.pair();
    assertThat(pair.a().terminate(Duration.ofSeconds(8))).isZero();
    assertThat(Files.exists(pair.a().socket())).isFalse();
    Await.until("B sees that A is gone", SOON, () -> !pair.b().status().hasPeer(pair.a().epoch()));
  }
}
