package io.orbitkv.manager.plan;

import static io.orbitkv.adapter.PlanCancellation.WON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.PlanCancellation;
import io.orbitkv.adapter.PlanReport.State;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RestorePlan;
import io.orbitkv.adapter.Role;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.Manager;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Plans of one instance, its scheduler and its worker in this process, over the real channel. */
@Timeout(120)
class PlansTest {
  @TempDir private Path folder;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private Path socket;
  private Manager manager;
  private ManagerClient scheduler;
  private ManagerClient worker;

  @BeforeEach
  void begin() {
    socket = folder.resolve("m.sock");
    manager = Site.manager(socket);
    scheduler = Site.client(socket, Role.SCHEDULER);
    worker = Site.client(socket, Role.WORKER);
  }

  @AfterEach
  void end() {
    threads.shutdownNow();
    worker.close();
    scheduler.close();
    manager.shutdown();
  }

  private RestorePlan promise(int count) {
    return scheduler.plans().promise(Site.names(count), Site.LOCAL, 0).orElseThrow();
  }

  private static void assertFault(FaultCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  /** A restore that has claimed its plan and waits, until it is let go on. */
  private final class Held {
    final CountDownLatch active = new CountDownLatch(1);
    final CountDownLatch goOn = new CountDownLatch(1);
    final CompletableFuture<Void> over;

    Held(RestorePlan plan, Arena arena) throws InterruptedException {
      over =
          CompletableFuture.runAsync(
              () ->
                  plan.restore(
                      Site.buffers(plan, arena),
                      part -> {
                        active.countDown();
                        try {
                          goOn.await();
                        } catch (InterruptedException e) {
                          Thread.currentThread().interrupt();
                        }
                        part.run();
                      }),
              threads);
      assertThat(active.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void aPromiseIsRedeemedByAnotherSessionOfTheInstance() {
    Site.publish(scheduler, 0, 4, Site.BLOCK);
    RestorePlan plan = promise(4);
    assertThat(plan.bytes()).isEqualTo(4 * Site.BLOCK);
    assertThat(plan.observe().state()).isEqualTo(State.GRANTED);
    assertThat(Site.planHolds(scheduler)).isEqualTo(4);

    RestorePlan redeemed = worker.plans().redeem(plan.record(), plan.generation());
    assertThat(redeemed.blocks()).isEqualTo(plan.blocks());
    Site.assertRestores(redeemed);

    assertThat(plan.observe().state()).isEqualTo(State.ENDED_WHOLE);
    assertThat(plan.observe().evidence())
        .containsExactlyInAnyOrder(Evidence.LOCAL_QUIESCED, Evidence.NEVER_SUBMITTED);
    assertThat(Site.planHolds(scheduler)).isZero();
    assertThat(plan.cancel()).isEqualTo(PlanCancellation.ENDED);
    assertFault(
        FaultCode.GRANT_ENDED, () -> worker.plans().redeem(plan.record(), plan.generation()));
  }

  // Guard: SessionClaims.hold, a record once in a generation.
  @Test
  void aSessionThatClaimsTwiceIsRefused() {
    Site.publish(scheduler, 0, 1, Site.BLOCK);
    RestorePlan plan = scheduler.plans().promise(Site.names(1), Site.LOCAL, 2).orElseThrow();
    RestorePlan redeemed = worker.plans().redeem(plan.record(), plan.generation());
    Site.assertRestores(redeemed);
    // Still granted: a second session is to come.
    assertThat(plan.observe().state()).isEqualTo(State.ACTIVE);
    assertThatThrownBy(() -> Site.assertRestores(redeemed))
        .isInstanceOf(IllegalStateException.class);
    assertFault(
        FaultCode.GRANT_ENDED, () -> worker.plans().redeem(plan.record(), plan.generation()));
    Site.assertRestores(plan);
    assertThat(plan.observe().state()).isEqualTo(State.ENDED_WHOLE);
  }

  @Test
  void aCancelWinsOverThoseThatHaveNotBegun() {
    Site.publish(scheduler, 0, 2, Site.BLOCK);
    RestorePlan plan = promise(2);
    RestorePlan redeemed = worker.plans().redeem(plan.record(), plan.generation());
    assertThat(plan.cancel()).isEqualTo(WON);
    assertThat(Site.planHolds(scheduler)).isZero();
    assertThat(plan.observe().state()).isEqualTo(State.ENDED_UNUSED);
    assertThat(plan.observe().evidence()).containsExactly(Evidence.NEVER_SUBMITTED);
    // Guard: RestoreClaim reading the Manager's word again.
    assertThatThrownBy(() -> Site.assertRestores(redeemed))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.GRANT_ENDED))
        .hasMessageContaining("cancelled by the engine");
    assertThatThrownBy(() -> Site.assertRestores(plan)).isInstanceOf(IllegalStateException.class);
  }

  // Guard: Promise.answer. Answered as won at once, the pages would be used while a copy fills
  // them.
  @Test
  void aCancelThatLostToActiveIsAnsweredSoUntilTheCopyHasEnded() throws Exception {
    Site.publish(scheduler, 0, 2, Site.BLOCK);
    RestorePlan plan = promise(2);
    RestorePlan redeemed = worker.plans().redeem(plan.record(), plan.generation());
    try (Arena arena = Arena.ofShared()) {
      Held held = new Held(redeemed, arena);
      assertThat(plan.cancel()).isEqualTo(PlanCancellation.LOST_TO_ACTIVE);
      assertThat(plan.cancel()).as("asked again").isEqualTo(PlanCancellation.LOST_TO_ACTIVE);
      assertThat(plan.observe().state()).isEqualTo(State.REVOKED);
      assertThat(Site.planHolds(scheduler)).isEqualTo(2);
      held.goOn.countDown();
      held.over.join();
      Site.await("the plan ends", () -> plan.observe().state() == State.ENDED_WHOLE);
      assertThat(plan.cancel()).isEqualTo(PlanCancellation.ENDED);
      assertThat(Site.planHolds(scheduler)).isZero();
    }
  }

  // Guard: HoldKind.PLAN's hold in PlanHolds.of. Without it the blocks are evicted, and the
  // restore copies somebody else's bytes.
  @Test
  void evictionCanNotTouchAPromisedBlock() {
    Site.publish(scheduler, 0, 4, Site.BLOCK);
    RestorePlan plan = promise(4);
    // Three times what the pool holds.
    for (int i = 0; i < 48; i++) {
      Site.publish(worker, 100 + i, 1, Site.BLOCK);
    }
    assertThat(Site.planHolds(scheduler)).isEqualTo(4);
    Site.assertRestores(worker.plans().redeem(plan.record(), plan.generation()));
    for (int i = 0; i < 48; i++) {
      Site.publish(worker, 200 + i, 1, Site.BLOCK);
    }
    assertThat(scheduler.plans().candidates(Site.names(4), Site.LOCAL)).isEmpty();
  }

  // Guard: PlanRequest.fitting in InstancePlans.tryGrant.
  @Test
  void halfOfThePoolIsPromisedAndNoMore() {
    Site.publish(scheduler, 0, 12, Site.BLOCK);
    RestorePlan first = promise(12);
    assertThat(first.blocks()).hasSize(8);
    assertThat(scheduler.plans().promise(Site.names(12), Site.LOCAL, 0)).isEmpty();
    assertThat(Site.planHolds(scheduler)).isEqualTo(8);
    assertThat(first.cancel()).isEqualTo(WON);
    RestorePlan second = promise(3);
    assertThat(second.blocks()).hasSize(3);
    RestorePlan third = promise(12);
    assertThat(third.blocks()).hasSize(5);
    assertThat(Site.status(scheduler.status()).getAsJsonObject("leases").get("open").getAsLong())
        .as("leases of what was cut off")
        .isZero();
    Site.assertRestores(worker.plans().redeem(third.record(), third.generation()));
    assertThat(second.cancel()).isEqualTo(WON);
  }

  // Guard: the queue of InstancePlans.ask. Without it a full bank would be a refusal.
  @Test
  void aFullBankDefersUntilAPlanHasEnded() throws Exception {
    Site.publish(scheduler, 0, 1, 64);
    List<BlockName> many = Collections.nCopies(8_192, Site.name(0));
    List<RestorePlan> plans = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      plans.add(restore(many));
    }
    CompletableFuture<RestorePlan> fifth =
        CompletableFuture.supplyAsync(() -> restore(many), threads);
    Site.await("it is deferred", () -> deferred() == 1);
    assertThat(fifth).isNotDone();
    Optional<RestorePlan> late =
        scheduler
            .plans()
            .promise(Site.names(1), QueryOptions.LOCAL.withDeadline(Duration.ofMillis(50)), 1);
    assertThat(late).as("a promise without room by its deadline").isEmpty();
    assertThat(plans.get(2).cancel()).isEqualTo(WON);
    RestorePlan granted = fifth.get(20, TimeUnit.SECONDS);
    assertThat(granted.blocks()).hasSize(8_192);
    assertThat(deferred()).isZero();
    assertThat(granted.cancel()).isEqualTo(WON);
    assertFault(FaultCode.EXHAUSTED, () -> restore(Collections.nCopies(32_769, Site.name(0))));
    assertThat(Site.openPlans(scheduler)).isEqualTo(3);
  }

  private RestorePlan restore(List<BlockName> names) {
    BlockLease lease = scheduler.queryAndWait(names, Site.LOCAL);
    try {
      return scheduler.plans().restore(lease, lease.blocks(), Duration.ofSeconds(20));
    } catch (TransportException e) {
      lease.close();
      throw e;
    }
  }

  private long deferred() {
    return Site.status(manager.statusJson()).getAsJsonObject("plans").get("deferred").getAsLong();
  }

  // Guard: the records' queue; 1,024 plans of one block leave the bank nearly empty.
  @Test
  void everyRecordIsUsedAndThenUsedAgain() {
    Site.publish(scheduler, 0, 1, 64);
    List<RestorePlan> plans = new ArrayList<>();
    for (int i = 0; i < 1_024; i++) {
      plans.add(promise(1));
    }
    assertThat(plans.stream().map(RestorePlan::record)).doesNotHaveDuplicates();
    Optional<RestorePlan> late =
        scheduler
            .plans()
            .promise(Site.names(1), QueryOptions.LOCAL.withDeadline(Duration.ofMillis(50)), 1);
    assertThat(late).isEmpty();
    plans.forEach(plan -> assertThat(plan.cancel()).isEqualTo(WON));
    RestorePlan next = promise(1);
    RestorePlan old = plans.get(next.record());
    assertThat(next.generation()).isGreaterThan(old.generation());
    // Guard: generations in PlanRecords.find and in the words.
    assertThat(old.cancel()).isEqualTo(PlanCancellation.ENDED);
    assertThat(old.observe().state()).isEqualTo(State.ENDED_FORGOTTEN);
    assertFault(FaultCode.GRANT_ENDED, () -> worker.plans().redeem(old.record(), old.generation()));
    assertThat(next.observe().state()).isEqualTo(State.GRANTED);
    Site.assertRestores(worker.plans().redeem(next.record(), next.generation()));
  }

  @Test
  void aNumberThatWasNeverGrantedIsUnknown() {
    Site.publish(scheduler, 0, 1, 64);
    RestorePlan plan = promise(1);
    long never = plan.generation() + 1;
    assertThat(scheduler.plans().observe(plan.record(), never).state()).isEqualTo(State.UNKNOWN);
    assertThat(scheduler.plans().observe(77, plan.generation()).state()).isEqualTo(State.UNKNOWN);
    assertThat(scheduler.plans().observe(5_000_000, 1).state()).isEqualTo(State.UNKNOWN);
    assertFault(FaultCode.GRANT_ENDED, () -> worker.plans().redeem(plan.record(), never));
    assertThat(plan.cancel()).isEqualTo(WON);
  }

  // Guard: the first generation of WELCOME. Nobody reads the word of a session that came later.
  @Test
  void aSessionThatCameLaterIsRefused() {
    Site.publish(scheduler, 0, 1, Site.BLOCK);
    RestorePlan plan = promise(1);
    try (ManagerClient late = Site.client(socket, Role.WORKER)) {
      assertThatThrownBy(() -> late.plans().redeem(plan.record(), plan.generation()))
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.GRANT_ENDED))
          .hasMessageContaining("older than this session");
      RestorePlan next = promise(1);
      Site.assertRestores(late.plans().redeem(next.record(), next.generation()));
    }
    assertThat(plan.cancel()).isEqualTo(WON);
  }

  @Test
  void aRestoreUsesItsLeaseUp() {
    Site.publish(scheduler, 0, 3, Site.BLOCK);
    BlockLease lease = scheduler.queryAndWait(Site.names(3), Site.LOCAL);
    RestorePlan plan =
        scheduler.plans().restore(lease, List.of(lease.blocks().get(1)), Duration.ofSeconds(20));
    assertThat(plan.blocks()).hasSize(1);
    assertThatThrownBy(lease::close).isInstanceOf(IllegalStateException.class);
    // Guard: PlanHolds.of ending the holds of the lease.
    assertThat(Site.planHolds(scheduler)).isEqualTo(1);
    assertThat(Site.status(scheduler.status()).getAsJsonArray("holds")).hasSize(1);
    try (Arena arena = Arena.ofShared()) {
      List<MemorySegment> to = Site.buffers(plan, arena);
      plan.restore(to);
      assertThat(to.getFirst().get(ValueLayout.JAVA_BYTE, 5)).isEqualTo(Site.fill(1));
    }
    Site.await("it ends", () -> Site.planHolds(scheduler) == 0);
  }

  // Guard: "whole" in the copy of RestorePlan, which is true behind the last block of a part only:
  // without it the plan ends as whole.
  @Test
  void aRestoreThatFailsSaysSoAndEnds() {
    Site.publish(scheduler, 0, 2, Site.BLOCK);
    RestorePlan plan = promise(2);
    RestorePlan redeemed = worker.plans().redeem(plan.record(), plan.generation());
    try (Arena arena = Arena.ofShared()) {
      assertThatThrownBy(() -> redeemed.restore(Site.buffers(redeemed, arena).subList(0, 1)))
          .as("what does not fit claims nothing")
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(plan.observe().state()).isEqualTo(State.GRANTED);
      MemorySegment first = arena.allocate(Site.BLOCK);
      MemorySegment dead;
      try (Arena gone = Arena.ofShared()) {
        dead = gone.allocate(Site.BLOCK);
      }
      assertFault(FaultCode.INTERNAL, () -> redeemed.restore(List.of(first, dead)));
    }
    Site.await("it ends", () -> plan.observe().state() == State.ENDED_IN_PART);
    assertThat(Site.planHolds(scheduler)).isZero();
  }

  @Test
  void warmUpAndCandidatesPinNothing() {
    Site.publish(scheduler, 0, 2, Site.BLOCK);
    assertThat(scheduler.plans().candidates(Site.names(3), Site.LOCAL)).hasSize(2);
    assertThat(scheduler.plans().warmUp(Site.names(3), Site.LOCAL)).hasSize(2);
    assertThat(Site.status(scheduler.status()).getAsJsonArray("holds")).isEmpty();
  }

  @Test
  void aRevisedPromiseKeepsItsFirstBlocks() throws Exception {
    Site.publish(scheduler, 0, 4, Site.BLOCK);
    RestorePlan plan = promise(4);
    RestorePlan shorter = scheduler.plans().revise(plan, 2).orElseThrow();
    assertThat(shorter.blocks()).hasSize(2);
    // Guard: PlanPins.keepFirst, and Plan.keepsPins while the old one ends.
    assertThat(Site.planHolds(scheduler)).isEqualTo(2);
    assertThat(plan.cancel()).isEqualTo(PlanCancellation.ENDED);
    RestorePlan redeemed = worker.plans().redeem(shorter.record(), shorter.generation());
    try (Arena arena = Arena.ofShared()) {
      Held held = new Held(redeemed, arena);
      assertThat(scheduler.plans().revise(shorter, 1)).isEmpty();
      assertThat(shorter.observe().state()).isEqualTo(State.ACTIVE);
      held.goOn.countDown();
      held.over.join();
    }
    Site.await("it ends", () -> Site.planHolds(scheduler) == 0);
  }

  // Guard: Member.leave in LocalSession.nothingHeld. Its engine may still claim, so its word has to
  // stay, and its process watched.
  @Test
  void aClosedSessionKeepsItsSlotUntilItsPlansHaveEnded() {
    Site.publish(scheduler, 0, 1, Site.BLOCK);
    RestorePlan plan;
    try (ManagerClient closed = Site.client(socket, Role.WORKER)) {
      assertThat(sessions()).isEqualTo(3);
      plan = promise(1);
      assertThat(closed.connected()).isTrue();
    }
    RestorePlan later = promise(1);
    assertThat(later.cancel()).isEqualTo(WON);
    // Its last thread has looked whether it can end before it ends itself.
    Site.await("it has closed", () -> threadsOf("orbitkv-ring-") == 2);
    Site.await("and its socket", () -> threadsOf("orbitkv-session") == 2);
    assertThat(sessions()).isEqualTo(3);
    assertThat(plan.cancel()).isEqualTo(WON);
    Site.await("its slot is free", () -> sessions() == 2);
  }

  // Guard: InstancePlans.close(Member). Otherwise CLOSE would wait for the deadline of the query.
  @Test
  void aSessionThatClosesIsNotHeldUpByADeferredPlan() {
    Site.publish(scheduler, 0, 1, 64);
    List<BlockName> many = Collections.nCopies(32_768, Site.name(0));
    RestorePlan all = restore(many);
    ManagerClient closing = Site.client(socket, Role.SCHEDULER);
    QueryOptions patient = QueryOptions.LOCAL.withDeadline(Duration.ofMinutes(30));
    CompletableFuture<Optional<RestorePlan>> deferred =
        CompletableFuture.supplyAsync(
            () -> closing.plans().promise(Site.names(1), patient, 1), threads);
    Site.await("it is deferred", () -> deferred() == 1);
    closing.close();
    assertThatThrownBy(deferred::join)
        .cause()
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.CLOSING));
    Site.await("its slot is free", () -> sessions() == 2);
    assertThat(all.cancel()).isEqualTo(WON);
  }

  private static long threadsOf(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(name))
        .count();
  }

  private int sessions() {
    return Site.status(manager.statusJson()).getAsJsonObject("sessions").get("open").getAsInt();
  }
}
