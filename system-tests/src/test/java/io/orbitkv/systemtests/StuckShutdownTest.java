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

/** SIGTERM while a system call is stuck inside memory, and nothing will end it in time. */
class StuckShutdownTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final int BLOCK_BYTES = 1 << 20;
  private static final String NAMES_WHAT_IT_AWAITS = "shutdown: waits at most ";

  @RegisterExtension final Rig rig = new Rig();

  /** B reads from A, and the bytes stand still in the middle of a block. */
  private Rig.ProxiedPair stuck(String sourceCloseDeadline) {
    Rig.ProxiedPair pair =
        rig.proxied(
            "--retirement-grace",
            "120s",
            "--source-close-deadline",
            sourceCloseDeadline,
            "--max-pinned-bytes-per-peer",
            "64MiB",
            "--orbitte-tcp-window-bytes",
            String.valueOf(64 << 20));
    // More than the sockets between them can hold, and all of it asked for at once.
    List<Page> pages = Page.of(1, 1, 48, BLOCK_BYTES).toList();
    try (Engine engine = pair.a().engine()) {
      engine.store(pages);
    }
    pair.data().valve().holdAfter(3 * BLOCK_BYTES / 2);
    // Not closed: its query ends with the Manager.
    Readers.start(
        pair.b().socket(), pages, 48, QueryOptions.FETCH.withDeadline(Duration.ofSeconds(60)));
    Await.until(
        "B's read stands still",
        SOON,
        () ->
            pair.data().valve().total() >= 3 * BLOCK_BYTES / 2
                && pair.b().status().holds("destination") > 0
                && pair.a().status().holds("source") > 0);
    return pair;
  }

  private static void awaitShutdown(ManagerProcess manager) {
    Await.until(
        manager + " says what it waits for",
        SOON,
        () -> manager.log().contains(NAMES_WHAT_IT_AWAITS),
        manager::log);
  }

  // Guard: Manager.awaitDrain, which waits for tickets that have not settled, and ends the
  // connections of those that are stuck at half of the deadline: the proof comes before its end.
  @Test
  void aStuckReadIsCutInTimeToBeProven() {
    Rig.ProxiedPair pair = stuck("10s");
    pair.b().requestEnd();
    assertThat(pair.b().awaitExit(SOON)).isZero();
    assertThat(pair.b().log())
        .contains(NAMES_WHAT_IT_AWAITS + "10000 ms for ")
        .doesNotContain("in vain", "still held", "ERROR");
    pair.data().valve().open();
    pair.a().awaitQuiet();
  }

  // Guard: Serving.signalled. During the wait all stays held; the second signal ends it at once.
  @Test
  void aSecondSignalForcesTheExitOfARequesterAndSaysWhatIsGivenUp() {
    Rig.ProxiedPair pair = stuck("120s");
    Status before = pair.b().status();
    pair.b().requestEnd();
    awaitShutdown(pair.b());
    Status during = pair.b().status();
    assertThat(during.holds("destination")).isEqualTo(before.holds("destination"));
    assertThat(during.number("registrations.registered")).isOne();
    assertThat(during.number("tickets.undrained")).isPositive();
    assertThat(pair.b().alive()).isTrue();
    pair.b().requestEnd();
    assertThat(pair.b().awaitExit(SOON)).isEqualTo(1);
    assertThat(pair.b().log())
        .containsPattern(
            "orbitkv: second SIGTERM: the shutdown is cut short; given up: \\d+ holds of memory,"
                + " first of all .*\"holder\":\"TicketId");
    pair.data().valve().open();
    pair.a().awaitQuiet();
  }

  // As above, for the other half: A's send is stuck in its source.
  @Test
  void aSecondSignalForcesTheExitOfAnOwnerAndSaysWhatIsGivenUp() {
    Rig.ProxiedPair pair = stuck("120s");
    long held = pair.a().status().holds("source");
    pair.a().requestEnd();
    awaitShutdown(pair.a());
    assertThat(pair.a().status().holds("source")).isBetween(1L, held);
    assertThat(pair.a().alive()).isTrue();
    pair.a().requestEnd();
    assertThat(pair.a().awaitExit(SOON)).isEqualTo(1);
    assertThat(pair.a().log())
        .containsPattern(
            "second SIGTERM: .* given up: \\d+ holds of memory, first of all .*\"source\"");
    pair.data().valve().open();
    pair.b().awaitQuiet();
  }
}
