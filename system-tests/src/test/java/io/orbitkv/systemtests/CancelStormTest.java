package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.systemtests.rig.Await;
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
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Ten thousand reads that are given up in the middle (BB-06). */
class CancelStormTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final int READS = 10_000;
  private static final int WARM_UP = 1_500;

  /** Queries at once; a session may have 128. */
  private static final int WIDTH = 64;

  private static final int READS_OF_A_SESSION = 1_000;
  private static final int PAGE_BYTES = 16 << 10;
  private static final int PAGES = 3_000;
  private static final int PAGES_OF_B = 200;

  /** So slow that what is asked for at once takes longer than what is asked for may take. */
  private static final int BYTES_PER_SECOND = 24 << 20;

  private static final int LONGEST_MICROS = 60_000;

  /** Pooled buffers of the control plane, which grow by chunks of that size. */
  private static final long SLACK_BYTES = 8 << 20;

  @RegisterExtension final Rig rig = new Rig();

  private final long seed = System.nanoTime();

  // Guard: TcpTicket.end, which a cancel comes down to, giving its receipt from any byte of the
  // transfer; PartRead.abandon completing the grant; ManagerClient.query releasing a lease that
  // nobody waits for.
  @Test
  void leavesNothingBehind() {
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Rig.ProxiedPair pair =
        rig.proxied(
            List.of("--pool-bytes", Integer.toString(PAGES * PAGE_BYTES)),
            List.of("--pool-bytes", Integer.toString(PAGES_OF_B * PAGE_BYTES)));
    ManagerProcess a = pair.a();
    ManagerProcess b = pair.b();
    List<Page> all = Page.of(1, 1, PAGES, PAGE_BYTES).toList();
    try (Engine engine = a.engine()) {
      engine.store(all);
    }
    pair.data().valve().slowTo(BYTES_PER_SECOND);
    var _ = storm(b, all, WARM_UP, random);
    Start startA = Start.of(a);
    Start startB = Start.of(b);

    int checked = storm(b, all, READS, random);

    Status after = b.awaitQuiet(SOON);
    System.out.println("tickets: " + after.json().get("tickets") + ", pages checked: " + checked);
    // It was a storm: most of them had a ticket, and thousands of these ended before their bytes.
    assertThat(after.number("tickets.outcomes.Cancelled")).isGreaterThan(1_000);
    // And not all of it in vain: what came has the bytes of its name, or Engine.check throws.
    assertThat(after.number("tickets.outcomes.Completed")).isGreaterThan(1_000);
    assertThat(checked).isGreaterThan(1_000);
    startA.assertReached(a);
    startB.assertReached(b);
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

  /** How many pages came and were right. */
  private static int storm(ManagerProcess b, List<Page> all, int reads, Random random) {
    int checked = 0;
    for (int left = reads; left > 0; left -= READS_OF_A_SESSION) {
      // Its end with queries under way is a cancel of all of them.
      try (Engine engine = b.engine()) {
        List<Read> running = new ArrayList<>();
        for (int i = 0; i < Math.min(READS_OF_A_SESSION, left); i++) {
          if (running.size() == WIDTH) {
            checked += running.remove(random.nextInt(WIDTH)).end(random);
          }
          running.add(Read.begin(engine, some(all, random), deadline(random)));
        }
      }
    }
    b.awaitQuiet(SOON);
    return checked;
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

    /** This side gives it up too, or takes what came: how many pages, every byte of each right. */
    int end(Random random) {
      if (random.nextInt(4) == 0) {
        found.cancel(false);
        return 0;
      }
      try (BlockLease lease = found.join()) {
        return Engine.check(pages, lease).size();
      }
    }
  }

  private static Duration deadline(Random random) {
    return Duration.ofNanos(1_000L * (1 + random.nextInt(LONGEST_MICROS)));
  }

  private static List<Page> some(List<Page> all, Random random) {
    int first = random.nextInt(all.size() - 4);
    return IntStream.rangeClosed(0, random.nextInt(4)).mapToObj(i -> all.get(first + i)).toList();
  }

  /**
   * What a Manager had before.
   *
   * @param use of its process
   * @param connections of its transport
   */
  private record Start(ProcessUse use, long connections) {
    static Start of(ManagerProcess manager) {
      // The look at its state first, whose session is among its files.
      Status status = manager.awaitQuiet(SOON);
      return new Start(manager.use(), connections(status));
    }

    void assertReached(ManagerProcess manager) {
      Status after = manager.awaitQuiet(SOON);
      assertThat(after.number("budget.descriptor_bytes")).isZero();
      assertThat(after.number("transport.requests_in_flight")).isZero();
      assertThat(after.number("pool.retired_bytes")).isZero();
      assertThat(after.number("pool.capacity_bytes") - after.number("pool.free_bytes"))
          .isEqualTo(after.number("catalog.blocks") * PAGE_BYTES);
      assertThat(connections(after)).isEqualTo(connections);
      Await.until(
          manager + " has its files and threads back",
          SOON,
          () -> manager.use().beyond(use).isEmpty(),
          () -> manager.use().beyond(use).toString());
      ProcessUse now = manager.use();
      System.out.println(manager + ": " + use.offHeapBytes() + " -> " + now.offHeapBytes());
      assertThat(now.offHeapBytes()).isLessThanOrEqualTo(use.offHeapBytes() + SLACK_BYTES);
      assertThat(manager.log()).doesNotContain("ERROR").doesNotContain("Exception");
    }

    private static long connections(Status status) {
      return status.number("transport.incoming_connections")
          + status.number("transport.outgoing_connections");
    }
  }
}
