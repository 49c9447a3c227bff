package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.EngineMain;
import io.orbitkv.systemtests.rig.EngineProcess;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Rig;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an engine process held ends with the process, and with nothing less. */
class EngineKilledTest {
  /** 1 s by the limits, and as much again for two busy cores. */
  private static final Duration EXIT = Duration.ofSeconds(2);

  @RegisterExtension final Rig rig = new Rig();

  // Guard: ProcessWatch. Without it the lease of a process that is gone pins its block for ever.
  @Test
  void leaseEndsWithItsProcess() {
    ManagerProcess a = rig.manager("a");
    EngineProcess engine = rig.engineProcess(a.socket(), EngineMain.HOLD).awaitWord("leased");
    assertThat(a.status().number("leases.open")).isEqualTo(1);
    assertThat(a.status().holds("lease")).isEqualTo(1);
    engine.kill();
    a.awaitQuiet(EXIT);
    try (Engine next = a.engine()) {
      assertThat(next.read(List.of(EngineMain.LEASED), QueryOptions.LOCAL)).hasSize(1);
    }
  }

  // Guard: the copy of a publish holding the engine's memory mapped until it has left it.
  @Test
  void killedDuringAPublishItLeavesWholeBlocksOrNone() {
    ManagerProcess a = rig.manager("a");
    EngineProcess engine =
        rig.engineProcess(a.socket(), EngineMain.PUBLISH).awaitWord("publishing");
    engine.kill();
    a.awaitQuiet(EXIT);
    assertThat(a.alive()).isTrue();
    try (Engine next = a.engine()) {
      int found = 0;
      for (int generation = 1; generation < 200; generation++) {
        found += next.read(EngineMain.round(generation), QueryOptions.LOCAL).size();
      }
      assertThat(found).isPositive();
      next.store(Page.of(9, 1, 4, 1 << 20).toList());
    }
    a.awaitQuiet();
  }

  // Guard: LeaseTable.grant refusing whose process has exited, LocalSession.keep and
  // LocalSession.neverTold, each of which gives the lease back that nobody can be told of. Without
  // all three it stays; with any one of them it does not.
  @Test
  void killedDuringAFetchItLeavesNothingHeld() {
    // So that the fetch goes on to its end, however long the engine's death takes.
    Rig.ProxiedPair pair = rig.proxied("--transfer-progress-timeout", "120s");
    try (Engine owner = pair.a().engine()) {
      owner.store(EngineMain.FETCHED);
    }
    pair.data().valve().holdAfter(3 << 20);
    EngineProcess engine =
        rig.engineProcess(pair.b().socket(), EngineMain.FETCH).awaitWord("fetching");
    Await.until(
        "the read is under way",
        Duration.ofSeconds(20),
        () -> pair.b().status().number("tickets.undrained") > 0);
    long watched = pair.b().watched();
    engine.kill();
    Await.until(
        "its exit is seen", Duration.ofSeconds(20), () -> pair.b().watched() == watched - 1);
    try (Engine next = pair.b().engine()) {
      next.store(Page.of(9, 1, 4, 1 << 20).toList());
      pair.data().valve().open();
      pair.b().awaitQuiet();
      pair.a().awaitQuiet();
      // All of them came, for nobody: there was a lease to be given back.
      assertThat(next.read(EngineMain.FETCHED, QueryOptions.LOCAL))
          .hasSameSizeAs(EngineMain.FETCHED);
    }
    pair.b().awaitQuiet();
  }

  // Guard: BlockLease.copyTo looking at the expiry, and LeaseTable not unpinning by the clock.
  @Test
  void expiryForbidsReadsAndUnpinsNothing() {
    ManagerProcess a = rig.manager("a", "--lease-lifetime", "1s");
    Page page = new Page(1, 0, 1, 1 << 20);
    try (Engine engine = a.engine();
        Arena arena = Arena.ofConfined()) {
      engine.store(List.of(page));
      BlockLease lease = engine.client().queryAndWait(List.of(page.name()), QueryOptions.LOCAL);
      Await.until("the lease has expired", Duration.ofSeconds(5), lease::expired);
      Assertions.assertThatThrownBy(
              () -> lease.copyTo(lease.blocks().getFirst(), arena.allocate(page.bytes())))
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.GRANT_ENDED));
      // More than the pool holds; the leased one can not be evicted for the last.
      List<Page> others = Page.of(2, 1, 128, 1 << 20).toList();
      engine.publish(others);
      assertThat(a.status().holds("lease")).isEqualTo(1);
      assertThat(a.status().number("leases.expired")).isEqualTo(1);
      assertThat(engine.read(List.of(page), QueryOptions.LOCAL)).hasSize(1);
      lease.close();
    }
    a.awaitQuiet();
  }
}
