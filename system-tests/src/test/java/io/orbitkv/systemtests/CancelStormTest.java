package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.ByteStorm;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.ProcessUse;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Ten thousand reads that are given up in the middle of their bytes (BB-06). */
class CancelStormTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final int READS = 10_000;
  private static final int REQUESTERS = 4;
  private static final int READS_OF_EACH = READS / REQUESTERS;

  /** Before the measurement, of each: by the byte, and by the clock with many at once. */
  private static final int WARM_UP = 150;

  private static final int WARM_UP_BY_CLOCK = 400;

  /** Queries at once; a session may have 128. */
  private static final int WIDTH = 64;

  private static final int PAGE_BYTES = 64 << 10;
  private static final int PAGES = 256;
  private static final int PAGES_OF_B = 64;

  /** Pooled buffers of the control plane, which grow by chunks of that size. */
  private static final long SLACK_BYTES = 8 << 20;

  @RegisterExtension final Rig rig = new Rig();

  private final long seed = System.nanoTime();

  // Guard: PartRead.abandon cancelling the tickets: without it every one of them completes. And
  // PartRead.finish completing the grant of a part that failed, TcpTicket.receipt for a ticket that
  // was cancelled, and its release of the budget: without any of them something stays.
  @Test
  void leavesNothingBehindFromAnyByte() throws Exception {
    System.out.println("seed " + seed);
    ManagerProcess a =
        rig.manager(
            "a",
            "--pool-bytes",
            Integer.toString(PAGES * PAGE_BYTES),
            "--max-pinned-bytes-per-peer",
            Integer.toString(PAGES * PAGE_BYTES));
    List<Page> pages = Page.of(1, 1, PAGES / 2, PAGE_BYTES).toList();
    List<Page> others = Page.of(2, 1, PAGES / 2, PAGE_BYTES).toList();
    try (Engine engine = a.engine()) {
      engine.store(pages);
      engine.store(others);
    }
    List<ByteStorm> storms = new ArrayList<>();
    for (int i = 0; i < REQUESTERS; i++) {
      Rig.ProxiedPair pair =
          rig.proxied(
              a, "b" + i, List.of("--pool-bytes", Integer.toString(PAGES_OF_B * PAGE_BYTES)));
      storms.add(new ByteStorm(pair, pages, seed + i));
    }
    for (ByteStorm storm : storms) {
      byClock(storm.requester(), others, new Random(seed));
    }
    var _ = all(storms, storm -> storm.run(WARM_UP));
    Start startA = Start.of(a);
    List<Start> starts = storms.stream().map(storm -> Start.of(storm.requester())).toList();

    List<ByteStorm.Result> results = all(storms, storm -> storm.run(READS_OF_EACH));

    System.out.println("storms: " + results);
    for (int i = 0; i < REQUESTERS; i++) {
      ManagerProcess b = storms.get(i).requester();
      Status after = starts.get(i).assertReached(b);
      Status before = starts.get(i).status();
      long cancelled = grown(before, after, "tickets.outcomes.Cancelled");
      long completed = grown(before, after, "tickets.outcomes.Completed");
      System.out.println(
          b + ": " + cancelled + " tickets cancelled, " + completed + " completed anyway");
      // One ticket a read; of a read whose time was over too soon, one or none.
      assertThat(cancelled)
          .as("tickets of %s that were cancelled", b)
          .isBetween((long) READS_OF_EACH, (long) READS_OF_EACH + results.get(i).tooSoon());
      assertThat(completed).isZero();
    }
    startA.assertReached(a);
    // And what comes after it has the bytes of its name.
    for (ByteStorm storm : storms) {
      try (Engine engine = storm.requester().engine()) {
        List<Page> some = pages.subList(0, PAGES_OF_B / 2);
        assertThat(engine.read(some, QueryOptions.FETCH)).hasSameSizeAs(some);
      }
    }
  }

  // Guard: ManagerClient.close waiting for the answers of its queries. The Manager reads nothing
  // behind CLOSE, so that a lease that came later would be held until this process exits.
  @Test
  void clientThatClosesDuringItsQueryKeepsNoLease() {
    Rig.ProxiedPair pair = rig.proxied("--retirement-grace", "1s");
    List<Page> remote = Page.of(1, 1, 4, 1 << 20).toList();
    List<Page> local = Page.of(2, 1, 1, 1 << 20).toList();
    try (Engine engine = pair.a().engine()) {
      engine.store(remote);
    }
    pair.data().valve().holdAfter(1 << 20);
    try (Engine engine = pair.b().engine()) {
      engine.store(local);
      List<Page> both = List.of(local.getFirst(), remote.getFirst(), remote.getLast());
      Read.begin(engine, both, Duration.ofSeconds(2));
    }
    pair.b().awaitQuiet();
    assertThat(pair.b().status().number("leases.open")).isZero();
  }

  private interface Share {
    ByteStorm.Result of(ByteStorm storm) throws Exception;
  }

  /** Each in a thread of its own. */
  private static List<ByteStorm.Result> all(List<ByteStorm> storms, Share share) throws Exception {
    List<ByteStorm.Result> results = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(storms.size())) {
      List<Callable<ByteStorm.Result>> work = new ArrayList<>();
      storms.forEach(storm -> work.add(() -> share.of(storm)));
      for (Future<ByteStorm.Result> done : threads.invokeAll(work)) {
        results.add(done.get());
      }
    }
    return results;
  }

  private static long grown(Status before, Status after, String path) {
    return after.number(path) - before.number(path);
  }

  /** Many at once, each with a deadline that may fall anywhere; what comes is right. */
  private static void byClock(ManagerProcess b, List<Page> all, Random random) {
    // Its end with queries under way is a cancel of all of them.
    try (Engine engine = b.engine()) {
      List<Read> running = new ArrayList<>();
      for (int i = 0; i < WARM_UP_BY_CLOCK; i++) {
        if (running.size() == WIDTH) {
          running.remove(random.nextInt(WIDTH)).end(random);
        }
        Duration deadline = Duration.ofNanos(1_000L * (1 + random.nextInt(60_000)));
        running.add(Read.begin(engine, some(all, random), deadline));
      }
    }
    b.awaitQuiet(SOON);
  }

  private static List<Page> some(List<Page> all, Random random) {
    int first = random.nextInt(all.size() - 4);
    return IntStream.rangeClosed(0, random.nextInt(4)).mapToObj(i -> all.get(first + i)).toList();
  }

  /**
   * One read that is given up.
   *
   * @param pages what it is of
   * @param found what will be found
   */
  private record Read(List<Page> pages, CompletableFuture<BlockLease> found) {
    /** The Manager cancels it at its deadline. */
    static Read begin(Engine engine, List<Page> pages, Duration deadline) {
      return new Read(
          pages,
          engine
              .client()
              .query(
                  pages.stream().map(Page::name).toList(),
                  QueryOptions.FETCH.withDeadline(deadline)));
    }

    /** This side gives it up too, or takes what came, every byte of it right. */
    void end(Random random) {
      if (random.nextInt(4) == 0) {
        found.cancel(false);
        return;
      }
      try (BlockLease lease = found.join()) {
        var _ = Engine.check(pages, lease);
      }
    }
  }

  /**
   * What a Manager had before.
   *
   * @param status what it said of itself
   * @param use of its process
   */
  private record Start(Status status, ProcessUse use) {
    static Start of(ManagerProcess manager) {
      // The look at its state first, whose session is among its files.
      Status status = manager.awaitQuiet(SOON);
      return new Start(status, manager.use());
    }

    Status assertReached(ManagerProcess manager) {
      Status after = manager.awaitQuiet(SOON);
      assertThat(after.number("budget.descriptor_bytes")).isZero();
      assertThat(after.number("transport.requests_in_flight")).isZero();
      assertThat(after.number("pool.retired_bytes")).isZero();
      assertThat(after.number("pool.capacity_bytes") - after.number("pool.free_bytes"))
          .isEqualTo(after.number("catalog.blocks") * PAGE_BYTES);
      assertThat(connections(after)).isEqualTo(connections(status));
      Await.until(
          manager + " has its files and threads back",
          SOON,
          () -> manager.use().beyond(use).isEmpty(),
          () -> manager.use().beyond(use).toString());
      ProcessUse now = manager.use();
      System.out.println(
          manager
              + ": off heap "
              + use.offHeapBytes()
              + " -> "
              + now.offHeapBytes()
              + ", files "
              + use.descriptors().size()
              + " -> "
              + now.descriptors().size()
              + ", threads "
              + use.threads().size()
              + " -> "
              + now.threads().size());
      assertThat(now.offHeapBytes()).isLessThanOrEqualTo(use.offHeapBytes() + SLACK_BYTES);
      assertThat(manager.log()).doesNotContain("ERROR").doesNotContain("Exception");
      return after;
    }

    private static long connections(Status status) {
      return status.number("transport.incoming_connections")
          + status.number("transport.outgoing_connections");
    }
  }
}
