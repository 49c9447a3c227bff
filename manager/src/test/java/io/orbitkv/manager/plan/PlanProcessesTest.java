package io.orbitkv.manager.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.PlanCancellation;
import io.orbitkv.adapter.PlanReport.State;
import io.orbitkv.adapter.RestorePlan;
import io.orbitkv.adapter.Role;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.Manager;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Plans between processes, some of which are killed. */
@Timeout(180)
class PlanProcessesTest {
  @TempDir private Path folder;

  private static RestorePlan promise(ManagerClient scheduler, int count, int redeemers) {
    return scheduler.plans().promise(Site.names(count), Site.LOCAL, redeemers).orElseThrow();
  }

  @Test
  void anotherProcessRedeemsByTwoNumbers() {
    Path socket = folder.resolve("m.sock");
    Manager manager = Site.manager(socket);
    try (ManagerClient scheduler = Site.client(socket, Role.SCHEDULER);
        PlanProcess first = PlanProcess.start(PlanMain.RESTORE, socket);
        PlanProcess second = PlanProcess.start(PlanMain.RESTORE, socket)) {
      Site.publish(scheduler, 0, 5, Site.BLOCK);
      RestorePlan plan = promise(scheduler, 5, 0);
      assertThat(first.tell(plan)).isEqualTo("restored");
      assertThat(Site.planHolds(scheduler)).as("the other worker has not redeemed").isEqualTo(5);
      assertThat(second.tell(plan)).isEqualTo("restored");
      Site.await("both have redeemed", () -> plan.observe().state() == State.ENDED_WHOLE);
      assertThat(Site.planHolds(scheduler)).isZero();
      assertThat(first.tell(plan)).isEqualTo("GRANT_ENDED");
    } finally {
      manager.shutdown();
    }
  }

  // Guard: the mappings that a client keeps, and words that need nobody's answer.
  @Test
  void aPromiseIsRedeemedAfterItsManagerWasKilled() {
    Path socket = folder.resolve("m.sock");
    try (PlanProcess manager = PlanProcess.start(PlanMain.MANAGER, socket);
        ManagerClient scheduler = Site.client(socket, Role.SCHEDULER);
        PlanProcess worker = PlanProcess.start(PlanMain.RESTORE, socket)) {
      Site.publish(scheduler, 0, 6, Site.BLOCK);
      RestorePlan redeemed = promise(scheduler, 3, 1);
      RestorePlan own = promise(scheduler, 2, 1);
      RestorePlan cancelled = promise(scheduler, 1, 1);
      RestorePlan won = promise(scheduler, 1, 1);
      assertThat(won.cancel()).isEqualTo(PlanCancellation.WON);
      manager.kill();
      Site.await("the death is seen", () -> !scheduler.peerAlive());

      assertThat(worker.tell(redeemed)).isEqualTo("restored");
      assertThat(worker.tell(won)).as("cancelled before").isEqualTo("GRANT_ENDED");
      Site.assertRestores(own);
      // Guard: EnginePlans.cancel, which does not need the Manager's answer.
      assertThat(cancelled.cancel()).isEqualTo(PlanCancellation.GIVEN_UP_HERE);
      assertThatThrownBy(() -> Site.assertRestores(cancelled))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(redeemed::observe)
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.PEER_LOST));
      assertThat(worker.tell(cancelled)).as("the worker was not told").isEqualTo("restored");
    }
  }

  // Guard: Member.exited in LocalSession.processExited. Without it the plan waits for ever.
  @Test
  void anEngineKilledWhileItCopiesEndsItsPlan() {
    Path socket = folder.resolve("m.sock");
    Manager manager = Site.manager(socket);
    try (ManagerClient scheduler = Site.client(socket, Role.SCHEDULER);
        PlanProcess active = PlanProcess.start(PlanMain.STAY_ACTIVE, socket)) {
      Site.publish(scheduler, 0, 2, Site.BLOCK);
      RestorePlan plan = promise(scheduler, 2, 1);
      assertThat(active.tell(plan)).isEqualTo("active");
      assertThat(plan.cancel()).isEqualTo(PlanCancellation.LOST_TO_ACTIVE);
      assertThat(Site.planHolds(scheduler)).isEqualTo(2);
      long killed = System.nanoTime();
      active.beginKill();
      Site.await("its exit ends the plan", () -> Site.openPlans(scheduler) == 0);
      Duration took = Duration.ofNanos(System.nanoTime() - killed);
      System.out.println("PlanProcessesTest: exit to release " + took.toMillis() + " ms");
      assertThat(plan.observe().state()).isEqualTo(State.ENDED_IN_PART);
      assertThat(plan.observe().evidence())
          .containsExactlyInAnyOrder(Evidence.OWNER_EXITED, Evidence.NEVER_SUBMITTED);
      assertThat(Site.planHolds(scheduler)).isZero();
      Site.await(
          "its slot is free",
          () ->
              Site.status(scheduler.status()).getAsJsonObject("sessions").get("open").getAsInt()
                  == 1);
      try (PlanProcess next = PlanProcess.start(PlanMain.RESTORE, socket)) {
        assertThat(next.tell(promise(scheduler, 2, 1))).isEqualTo("restored");
      }
    } finally {
      manager.shutdown();
    }
  }

  // Guard: schedulerExited in InstancePlans.exited; the worker lives on, and nobody would cancel.
  @Test
  void theExitOfTheProcessThatAskedRevokesWhatIsNotClaimed() {
    Path socket = folder.resolve("m.sock");
    Manager manager = Site.manager(socket);
    try (ManagerClient observer = Site.client(socket, Role.WORKER);
        PlanProcess asker = PlanProcess.start(PlanMain.PROMISE, socket)) {
      Site.publish(observer, 0, 2, Site.BLOCK);
      String[] name = asker.tell(2, 0).split(" ", -1);
      assertThat(Site.planHolds(observer)).isEqualTo(2);
      asker.kill();
      Site.await("the plan ends", () -> Site.planHolds(observer) == 0);
      int record = Integer.parseInt(name[0]);
      assertThat(observer.plans().observe(record, Long.parseLong(name[1])).state())
          .isEqualTo(State.ENDED_UNUSED);
    } finally {
      manager.shutdown();
    }
  }
}
