package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.Origin;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.Status;
import io.orbitkv.systemtests.rig.TcpProxy;
import io.orbitkv.systemtests.rig.Valve;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * SIGKILL of a Manager at a random byte of what two Managers say to each other: requester and owner
 * in turns, in either direction of the payload or of the control stream. The survivor is the same
 * all the time; it gets everything back by its own evidence before the next one comes.
 */
class KilledAtAnyPointTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int PAGE_BYTES = 512 << 10;

  /** What is read in one exchange, in one part. */
  private static final int PAGES = 8;

  /** Twice that: whatever a dead peer still held would be missed at once. */
  private static final String POOL_BYTES = Integer.toString(2 * PAGES * PAGE_BYTES);

  private static final QueryOptions READ = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(5));

  @RegisterExtension final Rig rig = new Rig();

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  /** Kills while payload was on its way: some of it had passed, and not all. */
  private final AtomicInteger underWay = new AtomicInteger();

  // Guard: for a dead requester GrantAuthority.peerLost; for a dead owner Lane.down, which ends
  // what
  // was in flight. That kills hit transfers is guarded by their number: where Valve.runAfter does
  // nothing, every victim dies idle, and the floor is missed.
  @Test
  void leavesItsPeerWithNothingHeld() {
    kill(20);
  }

  @Test
  @Tag("slow")
  void leavesItsPeerWithNothingHeldAtManyPoints() {
    kill(200);
  }

  private void kill(int points) {
    System.out.println("seed " + seed);
    Link toSurvivor = new Link(rig);
    Link toVictim = new Link(rig);
    ManagerProcess survivor = manager("s", toVictim).awaitReady();
    toSurvivor.leadTo(survivor);
    ManagerProcess next = manager("v", toSurvivor);
    for (int point = 0; point < points; point++) {
      ManagerProcess victim = next.awaitReady();
      toVictim.leadTo(victim);
      victim.awaitPeer(survivor);
      survivor.awaitPeer(victim);
      // It starts while this one dies, so it has a socket of its own.
      next = manager("v" + point, toSurvivor);
      boolean ofOwner = point % 2 == 0;
      String what =
          ofOwner
              ? exchange(point, victim, survivor, toVictim, victim)
              : exchange(point, survivor, victim, toSurvivor, victim);
      assertNothingHeld(survivor, what);
      assertServes(survivor, point);
      victim.close();
    }
    System.out.println(underWay + " of " + points + " kills hit a transfer under way");
    assertThat(underWay.get())
        .as("kills under way, of %d, seed %d", points, seed)
        .isGreaterThanOrEqualTo(points / 5);
  }

  private ManagerProcess manager(String name, Link peer) {
    return rig.launch(
        name,
        "--pool-bytes",
        POOL_BYTES,
        "--max-pinned-bytes-per-peer",
        POOL_BYTES,
        "--peers",
        "127.0.0.1:" + peer.control.port());
  }

  /** One whole read, and one in which the victim dies; says where. */
  private String exchange(
      int point, ManagerProcess owner, ManagerProcess requester, Link link, ManagerProcess victim) {
    List<Page> first = pages(3 * point);
    List<Page> second = pages(3 * point + 1);
    long[] before = link.totals();
    try (Engine engine = owner.engine()) {
      engine.store(first);
      try (Engine reader = requester.engine()) {
        assertThat(reader.read(first, READ)).hasSize(PAGES).containsValue(Origin.PEER);
      }
      engine.store(second);
    }
    owner.awaitQuiet();
    // The second exchange is about as long as the first one, in each direction.
    // In turns, so that every stream is hit in either role.
    int where = point / 2 % Link.STREAMS.size();
    long length = link.totals()[where] - before[where];
    long at = random.nextLong(length + 1);
    String what =
        victim
            + " was killed at byte "
            + at
            + " of "
            + length
            + " of "
            + Link.STREAMS.get(where)
            + ", as "
            + (victim == owner ? "owner" : "requester")
            + ", seed "
            + seed;
    try (Engine reader = requester.engine()) {
      long idle = link.data.valve().total();
      link.valves()
          .get(where)
          .runAfter(
              at,
              () -> {
                long came = link.data.valve().total() - idle;
                if (came > 0 && came < PAGES * PAGE_BYTES) {
                  underWay.incrementAndGet();
                }
                victim.kill();
              });
      CompletableFuture<BlockLease> read =
          reader.client().query(second.stream().map(Page::name).toList(), READ);
      Await.until("an answer, though " + what, SOON, read::isDone);
      // Had it said less this time, it dies idle: a point like any other.
      victim.kill();
      link.open();
      if (victim == owner) {
        try (BlockLease lease = read.join()) {
          var _ = Engine.check(second, lease);
        }
      }
    }
    return what;
  }

  // What a dead requester asked last may come after its death, out of the proxy: a grant that lives
  // until its stream is seen to end. So nothing held, and every byte for others, is waited for.
  private static void assertNothingHeld(ManagerProcess survivor, String what) {
    Await.until(
        "the survivor holds nothing after " + what,
        SOON,
        () -> {
          Status status = survivor.status();
          return status.leftovers().isEmpty()
              && status.json().getAsJsonArray("holds").isEmpty()
              && status.number("pool.retired_bytes") == 0;
        },
        () -> survivor.status().leftovers() + survivor.log());
    assertThat(survivor.log()).describedAs(what).doesNotContain("ERROR");
  }

  /** Every byte of its pool for others. */
  private static void assertServes(ManagerProcess survivor, int point) {
    List<Page> fresh = Page.of(3 * point + 2, 1, 2 * PAGES, PAGE_BYTES).toList();
    try (Engine engine = survivor.engine()) {
      Await.until(
          "the whole pool takes pages of others",
          SOON,
          () ->
              engine.publish(fresh).stream()
                  .noneMatch(result -> result.status() == PublishResult.Status.FAULT),
          () -> survivor.status().leftovers() + survivor.log());
      assertThat(engine.read(fresh, QueryOptions.LOCAL)).hasSize(2 * PAGES);
    }
  }

  private static List<Page> pages(int request) {
    return Page.of(request, 1, PAGES, PAGE_BYTES).toList();
  }

  /** The way to one of them, through two proxies. */
  private static final class Link {
    static final List<String> STREAMS =
        List.of("the payload", "the READs", "the owner's words", "the requester's words");

    final TcpProxy data;
    final TcpProxy control;

    Link(Rig rig) {
      data = rig.keep(TcpProxy.unplugged());
      control = rig.keep(TcpProxy.unplugged());
    }

    void leadTo(ManagerProcess owner) {
      data.retarget(owner.data());
      control.retarget(owner, data);
    }

    List<Valve> valves() {
      return List.of(data.valve(), data.requests(), control.valve(), control.requests());
    }

    long[] totals() {
      return valves().stream().mapToLong(Valve::total).toArray();
    }

    void open() {
      valves().forEach(Valve::open);
    }
  }
}
