package io.orbitkv.manager.local;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.plan.InstancePlans;
import io.orbitkv.manager.plan.Plan;
import io.orbitkv.manager.plan.PlanKind;
import io.orbitkv.manager.plan.PlanRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * One ask for a plan, from its start until it is granted, refused or taken back. Thread-safe. A
 * timer runs only while it waits for room.
 */
final class PlanAsk implements SessionPlans.Pending {
  private final InstancePlans instance;
  private final PlanRequest request;
  private final PlanRequest.Answer answer;

  /** Gone with the answer, since it keeps all that was asked for. */
  private final CompletableFuture<Void> timer = new CompletableFuture<>();

  /** Begins with {@link #start}. */
  PlanAsk(
      LocalSession session,
      PlanKind kind,
      int redeemers,
      List<PlanRequest.Wanted> blocks,
      PlanRequest.Pinning pinning,
      PlanRequest.Answer answer) {
    this.instance = session.member().instance();
    this.answer = untimed(answer);
    this.request = new PlanRequest(session.member(), kind, redeemers, blocks, pinning, this.answer);
  }

  /**
   * Asks; the answer is told exactly once, maybe before this returns.
   *
   * @param deadlineNanos of {@link System#nanoTime()}: without room by then it is a miss if it is a
   *     promise, and refused with DEADLINE if not
   */
  void start(long deadlineNanos) {
    boolean answered;
    try {
      answered = instance.ask(request);
    } catch (TransportException e) {
      answer.refused(e);
      return;
    }
    if (!answered) {
      long left = Math.max(1, deadlineNanos - System.nanoTime());
      var _ =
          timer
              .completeOnTimeout(null, left, TimeUnit.NANOSECONDS)
              .thenRunAsync(this::expire)
              .exceptionally(_ -> null);
    }
  }

  private PlanRequest.Answer untimed(PlanRequest.Answer told) {
    return new PlanRequest.Answer() {
      @Override
      public void granted(Plan plan) {
        timer.cancel(false);
        told.granted(plan);
      }

      @Override
      public void missed() {
        timer.cancel(false);
        told.missed();
      }

      @Override
      public void refused(TransportException why) {
        timer.cancel(false);
        told.refused(why);
      }
    };
  }

  @Override
  public boolean deferred() {
    return instance.waits(request);
  }

  @Override
  public boolean cancel() {
    if (!instance.withdraw(request)) {
      return false;
    }
    answer.refused(new TransportException(FaultCode.CANCELLED, "plan: cancelled by the engine"));
    return true;
  }

  private void expire() {
    if (!instance.withdraw(request)) {
      return;
    }
    if (request.kind() == PlanKind.PROMISE) {
      answer.missed();
    } else {
      answer.refused(
          new TransportException(
              FaultCode.DEADLINE,
              "restore: no record or plan bank of the instance was free in time; end some plans"));
    }
  }
}
