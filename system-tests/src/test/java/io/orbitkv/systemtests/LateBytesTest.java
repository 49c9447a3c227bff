package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.Status;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A read that outlives the patience of who asked for it (BB-01, BB-07). */
class LateBytesTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int BLOCKS = 24;
  private static final int BLOCK_BYTES = 1 << 20;

  @RegisterExtension final Rig rig = new Rig();

  // Guard: the ticket's gate in front of every entry into the destination. Without it, what comes
  // late is written over the pages that were published meanwhile.
  @Test
  void pagesReusedAfterAnAbortKeepTheirBytes() {
    Rig.ProxiedPair pair =
        rig.proxied(
            "--pool-bytes",
            "24MiB",
            "--max-pinned-bytes-per-peer",
            "24MiB",
            "--retirement-grace",
            "20s");
    List<Page> old = pages(1);
    try (Engine engine = pair.a().engine();
        Engine reader = pair.b().engine()) {
      engine.store(old);
      pair.data().valve().slowTo(1 << 20);
      var query = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(1));
      assertThat(reader.read(old, query).size()).isLessThan(BLOCKS);
      long early = pair.data().valve().total();
      // Every page of B for another request; refused as long as one may still be written.
      for (Page page : pages(2)) {
        Await.until(
            page + " is stored",
            SOON,
            () -> reader.publish(List.of(page)).getFirst().status() == PublishResult.Status.STORED,
            () -> pair.b().status().leftovers().toString());
      }
      assertThat(reader.read(pages(2), QueryOptions.LOCAL)).hasSize(BLOCKS);
      pair.data().valve().open();
      // The end of what A owed: its handlers have sent all of their replies, or are cut off.
      pair.a().awaitQuiet();
      pair.b().awaitQuiet();
      assertThat(pair.data().valve().total()).isGreaterThanOrEqualTo(early);
      assertThat(reader.read(pages(2), QueryOptions.LOCAL)).hasSize(BLOCKS);
    }
  }

  // Guard: the hold of a ticket in Pool. Bytes of a call that is stuck in the destination can not
  // be kept out: only memory that nobody else is given takes them.
  @Test
  void pagesThatAStuckCallCanStillWriteAreGivenToNobody() {
    Rig.ProxiedPair pair =
        rig.proxied(
            "--pool-bytes",
            "24MiB",
            "--max-pinned-bytes-per-peer",
            "24MiB",
            "--retirement-grace",
            "30s");
    List<Page> old = pages(1);
    try (Engine engine = pair.a().engine();
        Engine reader = pair.b().engine()) {
      engine.store(old);
      pair.data().valve().holdAfter(5 * BLOCK_BYTES / 2);
      assertThat(reader.read(old, QueryOptions.FETCH.withDeadline(Duration.ofSeconds(2))))
          .isEmpty();
      assertThat(reader.publish(pages(2)))
          .extracting(PublishResult::status)
          .contains(PublishResult.Status.FAULT);
      // Now the stuck calls get the bytes that they were made for.
      pair.data().valve().open();
      pair.b().awaitQuiet();
      reader.publish(pages(2));
      assertThat(reader.read(pages(2), QueryOptions.LOCAL)).hasSize(BLOCKS);
    }
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }

  // Guard: rule 1, time is no evidence: DrainCoordinator is the only one to end a destination hold.
  @Test
  void deadlineAnswersAndTheRangeStaysHeldUntilItsReceipt() {
    Rig.ProxiedPair pair =
        rig.proxied(
            "--pool-bytes",
            "32MiB",
            "--max-pinned-bytes-per-peer",
            "32MiB",
            "--retirement-grace",
            "4s");
    List<Page> pages = pages(1);
    try (Engine engine = pair.a().engine();
        Engine reader = pair.b().engine()) {
      engine.store(pages);
      pair.data().valve().holdAfter(BLOCK_BYTES / 2);
      var query = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(2));
      long begun = System.nanoTime();
      assertThat(reader.read(pages, query)).isEmpty();
      long millis = Duration.ofNanos(System.nanoTime() - begun).toMillis();
      assertThat(millis).isBetween(1_900L, 3_500L);
      Status late = pair.b().status();
      assertThat(late.holds("destination")).isPositive();
      assertThat(late.number("tickets.undrained")).isPositive();
      assertThat(late.number("pool.free_bytes")).isLessThan(late.number("pool.capacity_bytes"));
      // The proxy goes on holding: only B's own shutdown() of the connection ends it.
      Status after = pair.b().awaitQuiet();
      assertThat(after.number("pool.free_bytes")).isEqualTo(after.number("pool.capacity_bytes"));
      assertThat(after.number("receipts_destination.LOCAL_QUIESCED")).isPositive();

      // The next read connects again.
      pair.data().valve().open();
      assertThat(reader.read(pages, QueryOptions.FETCH)).hasSize(BLOCKS);
    }
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }

  // Guard: Pool.reserve refusing what can never fit (BB-30). Without it everything else is evicted
  // first, in vain.
  @Test
  void blockLargerThanThePoolIsAMissAtOnce() {
    ManagerProcess a = rig.manager("a");
    ManagerProcess b = rig.manager("b", "--pool-bytes", "8MiB", "--peers", a.control());
    b.awaitPeer(a);
    List<Page> large = List.of(new Page(1, 0, 1, 12 << 20));
    try (Engine engine = a.engine();
        Engine reader = b.engine()) {
      engine.store(large);
      List<Page> small = Page.of(2, 1, 2, BLOCK_BYTES).toList();
      reader.store(small);
      long begun = System.nanoTime();
      assertThat(reader.read(large, QueryOptions.FETCH)).isEmpty();
      assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(5));
      assertThat(reader.publish(large).getFirst().detail()).contains("pool");
      assertThat(reader.read(small, QueryOptions.LOCAL)).hasSameSizeAs(small);
    }
    a.awaitQuiet();
    b.awaitQuiet();
  }

  private static List<Page> pages(int request) {
    return Page.of(request, 1, BLOCKS, BLOCK_BYTES).toList();
  }
}
