package io.orbitkv.manager.plan;

import static io.orbitkv.adapter.PlanCancellation.WON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RestorePlan;
import io.orbitkv.adapter.Role;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.Manager;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Restores whose answer the engine did not wait for: no plan is made twice, none is forgotten. */
@Timeout(120)
class LostAnswerTest {
  private static final Duration LONG = Duration.ofMinutes(30);

  @TempDir private Path folder;
  private Manager manager;
  private ManagerClient scheduler;
  private ManagerClient worker;

  @BeforeEach
  void begin() {
    Path socket = folder.resolve("m.sock");
    manager = Site.manager(socket);
    scheduler = Site.client(socket, Role.SCHEDULER);
    worker = Site.client(socket, Role.WORKER);
    Site.publish(scheduler, 0, 2, Site.BLOCK);
  }

  @AfterEach
  void end() {
    worker.close();
    scheduler.close();
    manager.shutdown();
  }

  private static void assertFault(FaultCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  private BlockLease lease() {
    return worker.queryAndWait(Site.names(2), Site.LOCAL);
  }

  /** The Manager does it, and the worker does not wait for its answer. */
  private void restoreUnheard(BlockLease lease) {
    Thread.currentThread().interrupt();
    assertFault(
        FaultCode.CANCELLED, () -> worker.plans().restore(lease, lease.blocks(), Site.LIMIT));
    assertThat(Thread.interrupted()).isTrue();
    Site.await("the Manager has granted it", () -> Site.openPlans(scheduler) == 1);
  }

  @Test
  void theSamePlanIsToldToWhoAsksAgain() {
    BlockLease lease = lease();
    restoreUnheard(lease);
    RestorePlan plan = worker.plans().restore(lease, lease.blocks(), Site.LIMIT);
    assertThat(Site.openPlans(scheduler)).isEqualTo(1);
    Site.assertRestores(plan);
    Site.await("it ends", () -> Site.planHolds(scheduler) == 0);
  }

  // Guard: BlockLease.plannedLate. Without it the plan stays until every process has exited.
  @Test
  void aLeaseThatIsClosedGivesThePlanUpThatNobodyHeardOf() {
    BlockLease lease = lease();
    restoreUnheard(lease);
    lease.close();
    Site.await("the plan is cancelled", () -> Site.openPlans(scheduler) == 0);
    assertThat(Site.planHolds(scheduler)).isZero();
  }

  // Guard: usedUp() forgetting what plannedLate has left. With it the plan is cancelled here.
  @Test
  void aPlanThatWasHeardOfInTheEndIsNotGivenUp() {
    BlockLease lease = lease();
    restoreUnheard(lease);
    // The late answer is dealt with by the thread of the futures, and so is this one behind it.
    worker.query(Site.names(1), Site.LOCAL).join().close();
    RestorePlan plan = worker.plans().restore(lease, lease.blocks(), Site.LIMIT);
    worker.ping();
    assertThat(Site.openPlans(scheduler)).isEqualTo(1);
    Site.assertRestores(plan);
  }

  // Guard: EnginePlans.told refusing a plan without blocks. Otherwise it is claimed in no parts.
  @Test
  void aPlanThatHasEndedBeforeItWasHeardOfIsRefused() {
    RestorePlan before = scheduler.plans().promise(Site.names(1), Site.LOCAL, 1).orElseThrow();
    assertThat(before.cancel()).isEqualTo(WON);
    BlockLease lease = lease();
    restoreUnheard(lease);
    int record = 0;
    while (true) {
      try {
        assertThat(scheduler.plans().redeem(record, before.generation() + 1).cancel())
            .isEqualTo(WON);
        break;
      } catch (TransportException e) {
        assertThat(++record).as("records, looked through").isLessThan(1_024);
      }
    }
    assertFault(
        FaultCode.GRANT_ENDED, () -> worker.plans().restore(lease, lease.blocks(), Site.LIMIT));
    assertThatThrownBy(lease::close).as("used up").isInstanceOf(IllegalStateException.class);
  }

  // Guard: refuseOwnThreads in front of BlockLease.beginUse. Behind it the lease is never usable.
  @Test
  void aRestoreOnTheThreadOfTheFuturesLeavesTheLeaseAsItWas() {
    Thread caller = Thread.currentThread();
    AtomicBoolean refused = new AtomicBoolean();
    BlockLease lease = worker.queryAndWait(Site.names(2), Site.LOCAL);
    while (!refused.get()) {
      lease.close();
      lease =
          worker
              .query(Site.names(2), Site.LOCAL)
              .thenApply(
                  found -> {
                    // An answer that is there already is handled by the caller, who may restore.
                    if (Thread.currentThread() != caller) {
                      assertThatThrownBy(
                              () -> worker.plans().restore(found, found.blocks(), Site.LIMIT))
                          .isInstanceOf(IllegalStateException.class)
                          .hasMessageContaining("another thread");
                      refused.set(true);
                    }
                    return found;
                  })
              .join();
    }
    try (Arena arena = Arena.ofConfined()) {
      lease.copyTo(lease.blocks().getFirst(), arena.allocate(Site.BLOCK));
    }
    Site.assertRestores(worker.plans().restore(lease, lease.blocks(), Site.LIMIT));
  }

  // Guard: PlanAsk.untimed. Without it each ask keeps a timer, and all it asked for, to its end.
  @Test
  void aDeferredAskThatIsOverKeepsNoTimer() {
    List<BlockName> all = Collections.nCopies(32_768, Site.name(0));
    BlockLease first = scheduler.queryAndWait(all, Site.LOCAL);
    RestorePlan full = scheduler.plans().restore(first, first.blocks(), Site.LIMIT);
    long before = timers();
    CompletableFuture<Optional<RestorePlan>> asked =
        CompletableFuture.supplyAsync(
            () -> worker.plans().promise(Site.names(1), QueryOptions.LOCAL.withDeadline(LONG), 1),
            Thread::startVirtualThread);
    Site.await("it is deferred", () -> deferred() == 1);
    Site.await("a timer runs for it", () -> timers() > before);
    assertThat(full.cancel()).isEqualTo(WON);
    assertThat(asked.join()).isPresent();
    Site.await("its timer is gone", () -> timers() <= before);
  }

  private long deferred() {
    return Site.status(manager.statusJson()).getAsJsonObject("plans").get("deferred").getAsLong();
  }

  private static long timers() {
    return ForkJoinPool.commonPool().getDelayedTaskCount();
  }
}
