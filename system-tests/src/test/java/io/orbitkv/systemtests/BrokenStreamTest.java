package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.Status;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Payload connections that are cut or falsified at any byte. */
class BrokenStreamTest {
  private static final int PREFACE_BYTES = 64;

  /** Where kind, request id, epoch and length are in a reply's header. */
  private static final int[] MEANINGFUL =
      IntStream.concat(IntStream.of(0), IntStream.range(8, 40)).toArray();

  private static final int CUTS = 12;
  private static final Duration SOON = Duration.ofSeconds(20);

  @RegisterExtension final Rig rig = new Rig();

  private final long seed = System.nanoTime();

  // Guard: one outcome after the last part (BB-05): a block whose bytes came in part must be a
  // miss.
  @Test
  void cutAnywhereIsAMissAndTheNextReadConnectsAgain() {
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Rig.ProxiedPair pair = rig.proxied();
    QueryOptions options = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(10));
    try (Engine engine = pair.a().engine();
        Engine reader = pair.b().engine()) {
      for (int i = 0; i < CUTS; i++) {
        List<Page> pages = Page.of(i, 1, 4, 700_001).toList();
        engine.store(pages);
        int at = 1 + random.nextInt(4 * 700_001);
        pair.data().valve().cutAfter(at);
        // Engine checks the bytes of whatever comes.
        assertThat(reader.read(pages, options).size())
            .describedAs("blocks of 4 after a cut at byte %d, seed %d", at, seed)
            .isLessThanOrEqualTo(4);
        pair.data().valve().open();
        Await.until(
            "a read after a cut at byte " + at,
            Duration.ofSeconds(15),
            () -> reader.read(pages, options).size() == 4);
      }
    }
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }

  // Guard: TcpTicket.settle, which only whoever drains the gate calls: one outcome, after the last
  // part has ended (BB-05), though the first has failed long before.
  @Test
  void partThatFailsEndsTheReadWhenTheOthersHaveLeft() {
    Rig.ProxiedPair pair =
        rig.proxied(
            "--orbitte-tcp-connections",
            "8",
            // So that each has its parts.
            "--orbitte-tcp-window-bytes",
            "1048576",
            "--retirement-grace",
            "60s",
            "--transfer-progress-timeout",
            "60s");
    List<Page> block = Page.of(1, 1, 1, 16 << 20).toList();
    try (Engine engine = pair.a().engine();
        Engine reader = pair.b().engine()) {
      List<Page> first = Page.of(2, 1, 1, 16 << 20).toList();
      engine.store(first);
      engine.store(block);
      assertThat(reader.read(first, QueryOptions.FETCH)).hasSize(1);
      Await.until(
          "all connections are up",
          SOON,
          () -> pair.b().status().number("transport.outgoing_connections") == 8);
      pair.data().valve().holdAfter(4 << 20);
      CompletableFuture<BlockLease> read =
          reader
              .client()
              .query(
                  List.of(block.getFirst().name()),
                  QueryOptions.FETCH.withDeadline(Duration.ofSeconds(60)));
      Await.until("all parts hang", SOON, () -> pair.data().valve().total() >= 20 << 20);
      pair.data().cutBusiest();
      Await.until(
          "B has noticed",
          SOON,
          () -> pair.b().status().number("transport.connection_failures") == 1);
      Status between = pair.b().status();
      assertThat(between.holds("destination")).isEqualTo(1);
      assertThat(between.number("tickets.undrained")).isEqualTo(1);
      assertThat(between.number("tickets.outcomes.Failed")).isZero();
      assertThat(read).isNotDone();

      pair.data().valve().open();
      Await.until("B answers", SOON, read::isDone);
      try (BlockLease lease = read.join()) {
        assertThat(lease.blocks()).isEmpty();
      }
      assertThat(pair.b().awaitQuiet().number("tickets.outcomes.Failed")).isEqualTo(1);
      assertThat(reader.read(block, QueryOptions.FETCH)).hasSize(1);
    }
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }

  // Guard: ReplyHeader's checks of kind, request id, epoch and length. What they let through would
  // be bytes of another block.
  @Test
  void falsifiedReplyHeaderIsNeverASuccess() {
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Rig.ProxiedPair pair = rig.proxied("--orbitte-tcp-connections", "1");
    QueryOptions options = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(3));
    try (Engine engine = pair.a().engine();
        Engine reader = pair.b().engine()) {
      for (int i = 0; i < 6; i++) {
        List<Page> pages = Page.of(i, 1, 1, 300_000).toList();
        engine.store(pages);
        pair.data().cut();
        int at = PREFACE_BYTES + MEANINGFUL[random.nextInt(MEANINGFUL.length)];
        pair.data().valve().flipAfter(at);
        assertThat(reader.read(pages, options))
            .describedAs("a block whose header was falsified at byte %d, seed %d", at, seed)
            .isEmpty();
        pair.data().valve().open();
        Await.until(
            "a read after a falsified byte " + at,
            Duration.ofSeconds(15),
            () -> reader.read(pages, options).size() == 1);
      }
    }
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }
}
