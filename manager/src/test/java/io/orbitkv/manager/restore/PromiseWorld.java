package io.orbitkv.manager.restore;

import io.orbitkv.adapter.restore.Barriers;
import io.orbitkv.adapter.restore.ClientOrdering;
import io.orbitkv.adapter.restore.EngineState;
import io.orbitkv.adapter.restore.LocalCancel;
import io.orbitkv.adapter.restore.RestoreClaim;
import io.orbitkv.adapter.restore.RestoreClaim.Phase;
import io.orbitkv.adapter.restore.SessionClaims;
import io.orbitkv.adapter.restore.SharedWord;
import io.orbitkv.tck.explore.Steps;
import io.orbitkv.tck.explore.World;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One real promise to an instance of a scheduler and two workers with real claims; anybody may die,
 * the Manager too. Stores are visible at once: {@link ClaimWorld} is about when they are not.
 */
final class PromiseWorld implements World {
  private static final int WORKERS = 2;
  private static final long GENERATION = 1;

  private final boolean device;
  private final @Nullable PromiseRule off;

  private final StoreBuffer.Cell managerCell = new StoreBuffer.Cell();
  private final List<Worker> workers = new ArrayList<>();
  private final RestoreRecord record;
  private final Promise promise;

  private boolean scheduler = true;
  private boolean schedulerExitTold;
  private boolean cancelled;
  private boolean cancelTold;
  private boolean pagesFree;
  private boolean manager = true;
  private boolean released;
  private boolean refused;

  private final class Worker {
    final String name;
    final StoreBuffer.Cell cell;
    final SessionClaims claims;
    final RestoreClaim claim;
    boolean mapped = true;
    boolean exited;
    boolean exitTold;
    boolean managerDeathTold;

    Worker(int number, StoreBuffer.Cell cell) {
      this.name = "worker " + (number + 1);
      this.cell = cell;
      claims = new SessionClaims(1, _ -> plain(cell), _ -> plain(managerCell), new AtOnce());
      claim = claims.hold(0, GENERATION);
    }

    boolean isCopying() {
      return !exited && claim.phase() == Phase.COPYING;
    }

    /** A device goes on when the process has exited. */
    boolean mayReadArena() {
      return (!exited || device) && claim.phase() == Phase.COPYING;
    }

    boolean isDone() {
      return exited || claim.phase() == Phase.ENDED;
    }
  }

  private static final class AtOnce implements Barriers {
    @Override
    public void fence() {}

    @Override
    public void membarrier() {}
  }

  PromiseWorld(boolean device, @Nullable PromiseRule off) {
    this.device = device;
    this.off = off;
    for (int i = 0; i < WORKERS; i++) {
      boolean shared = i > 0 && !on(PromiseRule.WORD_PER_SESSION);
      workers.add(new Worker(i, shared ? workers.getFirst().cell : new StoreBuffer.Cell()));
    }
    record = new RestoreRecord(plain(managerCell), new AtOnce());
    promise =
        new Promise(
            record,
            GENERATION,
            workers.stream()
                .map(w -> new RestoringSession(asRead(w), ClientOrdering.FENCES, device))
                .toList(),
            new PinnedSource() {
              @Override
              public void release() {
                released = true;
              }

              @Override
              public void quarantine() {}
            });
    promise.step(); // GRANTED is written before anybody is told
  }

  private boolean on(PromiseRule rule) {
    return rule != off;
  }

  @Override
  public void offer(Steps steps) {
    workers.forEach(worker -> offerWorker(steps, worker));
    if (scheduler) {
      offerScheduler(steps);
    }
    if (manager) {
      offerManager(steps);
    }
  }

  private void offerWorker(Steps steps, Worker worker) {
    if (worker.exited) {
      return;
    }
    steps.fault(
        worker.name + " exits",
        () -> {
          worker.exited = true;
          worker.mapped = false;
        });
    RestoreClaim claim = worker.claim;
    boolean wanted = scheduler && !cancelled;
    switch (claim.phase()) {
      case HELD -> {
        if (wanted) {
          steps.step(
              worker.name + " writes ACTIVE",
              () -> {
                claim.begin(1);
                claim.step();
              });
        } else if (manager || on(PromiseRule.LOCAL_CANCEL)) {
          steps.step(worker.name + " hears of the end of the plan", claim::cancel);
        }
      }
      case CLAIMED ->
          steps.step(
              worker.name + " reads the Manager's word again",
              () -> {
                claim.step();
                claim.step(); // the fence before it changes nothing here
                refused |= wanted && claim.phase() != Phase.COPYING;
              });
      case COPYING ->
          steps.step(
              worker.name + " writes DRAINED",
              () -> {
                claim.partEnded(true);
                claim.step();
              });
      case BACKING_OFF -> steps.step(worker.name + " writes FAILED", claim::step);
      case ENDED -> {}
      case CLAIMING, FENCED, PART_ENDED -> throw new AssertionError(claim);
    }
    if (!manager && !worker.managerDeathTold) {
      steps.step(
          worker.name + " hears of the Manager's death",
          () -> {
            worker.managerDeathTold = true;
            if (on(PromiseRule.UNMAP_AFTER_LAST_PLAN)) {
              worker.claims.managerDied(() -> worker.mapped = false);
            } else {
              worker.mapped = false;
            }
          });
    }
  }

  private void offerScheduler(Steps steps) {
    steps.fault("the scheduler exits", this::schedulerExit);
    if (!cancelled) {
      steps.step("the scheduler cancels", () -> cancelled = true);
    } else if (!pagesFree && !on(PromiseRule.LOST_CANCEL_ANSWERED)) {
      steps.step("the cancel is answered as won at once: pages free", () -> pagesFree = true);
    } else if (!pagesFree && manager && promise.answer() == CancelAnswer.WON) {
      steps.step("the cancel is answered: pages free", () -> pagesFree = true);
    } else if (!pagesFree && !manager && localCancel().pagesFree()) {
      steps.step("the local cancel is answered: pages free", () -> pagesFree = true);
    }
  }

  private void schedulerExit() {
    scheduler = false;
    if (!on(PromiseRule.LAST_PROCESS)) {
      for (int i = 0; i < WORKERS; i++) {
        promise.exited(i);
      }
    }
  }

  private LocalCancel localCancel() {
    LocalCancel cancel = new LocalCancel(WORKERS);
    for (int i = 0; i < WORKERS; i++) {
      if (workers.get(i).isDone()) {
        var _ = cancel.ended(i);
      }
    }
    return cancel;
  }

  private void offerManager(Steps steps) {
    steps.fault("the Manager dies", () -> manager = false);
    if (!promise.canStep()) {
      return;
    }
    if (cancelled && !cancelTold) {
      steps.step(
          "the Manager hears of the cancel",
          () -> {
            cancelTold = true;
            promise.askCancel();
          });
    }
    if (!scheduler && !schedulerExitTold) {
      steps.step(
          "the Manager has the scheduler's OWNER_EXITED",
          () -> {
            schedulerExitTold = true;
            promise.schedulerExited();
          });
    }
    for (int i = 0; i < WORKERS; i++) {
      int index = i;
      Worker worker = workers.get(i);
      if (worker.exited && !worker.exitTold) {
        steps.step(
            "the Manager has the OWNER_EXITED of " + worker.name,
            () -> {
              worker.exitTold = true;
              promise.exited(index);
            });
      }
    }
    if (!on(PromiseRule.NO_EXPIRY) && record.isBetweenScans()) {
      steps.step("a clock runs out, the Manager revokes", record::revoke);
    }
    steps.step("the Manager goes on from " + record.phase(), this::managerStep);
  }

  private void managerStep() {
    promise.step();
    while (record.phase() == RecordPhase.REVOKED) {
      promise.step(); // the fence changes nothing here
    }
  }

  private static SharedWord plain(StoreBuffer.Cell cell) {
    return new SharedWord() {
      @Override
      public long load() {
        return cell.visible;
      }

      @Override
      public void store(long value) {
        cell.visible = value;
      }
    };
  }

  /** As the Manager reads it; without the rule that waits for all, one end is everybody's. */
  private SharedWord asRead(Worker worker) {
    return new SharedWord() {
      @Override
      public long load() {
        boolean any =
            workers.stream().anyMatch(w -> EngineState.read(w.cell.visible, GENERATION).isEnd());
        return any && !on(PromiseRule.WAITS_FOR_ALL)
            ? EngineState.DRAINED.word(GENERATION)
            : worker.cell.visible;
      }

      @Override
      public void store(long value) {
        throw new AssertionError("the Manager writes no engine word");
      }
    };
  }

  @Override
  public Object fingerprint() {
    List<Object> all = new ArrayList<>();
    all.add(List.of(device, scheduler, cancelled, pagesFree, manager, released, refused));
    all.add(managerCell.visible);
    for (Worker w : workers) {
      all.add(List.of(w.exited, w.exited || w.mapped, w.managerDeathTold && !w.exited));
      all.add(w.exited && !device ? "" : w.claim.toString());
    }
    if (manager) {
      all.add(promise.canStep() ? promise.toString() : promise.answer());
      workers.forEach(w -> all.add(List.of(w.cell.visible, w.exitTold)));
      all.add(List.of(schedulerExitTold, cancelTold));
    }
    return all;
  }

  @Override
  public @Nullable String broken() {
    for (Worker worker : workers) {
      if (worker.mayReadArena() && released) {
        return "UNSAFE: " + worker.name + " copies from memory that was reused";
      }
      if (worker.isCopying() && !worker.mapped) {
        return "UNSAFE: " + worker.name + " copies from an arena that it unmapped";
      }
      if (worker.isCopying() && pagesFree) {
        return "UNSAFE: " + worker.name + " writes into pages that were named free";
      }
    }
    return refused ? "WRONG: a promise failed that nobody had cancelled" : null;
  }

  @Override
  public boolean ended() {
    boolean answered = !cancelled || !scheduler || pagesFree || isQuarantined();
    return answered && (manager ? !promise.canStep() : workers.stream().noneMatch(w -> w.mapped));
  }

  private boolean isQuarantined() {
    return manager && record.phase() == RecordPhase.QUARANTINED;
  }
}
