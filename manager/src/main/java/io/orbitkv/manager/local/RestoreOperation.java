package io.orbitkv.manager.local;

import io.orbitkv.adapter.wire.RestoreRequest;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.plan.Plan;
import io.orbitkv.manager.plan.PlanKind;
import io.orbitkv.manager.plan.PlanRequest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One restore under the number that its client reserved for it: however often it is asked for, it
 * is one plan. Thread-safe.
 */
final class RestoreOperation implements PlanRequest.Answer {
  /**
   * A request that asks for it.
   *
   * @param charge what it was admitted with, bytes
   */
  record Waiter(long requestId, long charge) {}

  private static final SessionPlans.Pending OVER =
      new SessionPlans.Pending() {
        @Override
        public boolean deferred() {
          return false;
        }

        @Override
        public boolean cancel() {
          return false;
        }
      };

  private final LocalSession session;
  private final long lease;
  private volatile @Nullable PlanAsk ask;
  private final List<Waiter> waiting = new ArrayList<>();
  private @Nullable Plan plan;
  private boolean refused;
  private boolean told;

  /** Not started yet. */
  RestoreOperation(
      LocalSession session, LocalContext context, long lease, RestoreRequest asked, Waiter first) {
    this.session = session;
    this.lease = lease;
    waiting.add(first);
    List<PlanRequest.Wanted> wanted = new ArrayList<>(asked.generations().size());
    for (int i = 0; i < asked.generations().size(); i++) {
      wanted.add(new PlanRequest.Wanted(i, 0));
    }
    this.ask =
        new PlanAsk(
            session,
            PlanKind.RESTORE,
            asked.redeemers(),
            wanted,
            (_, name) -> context.service().pin(session.token(), lease, asked.generations(), name),
            this);
  }

  /** Asks for the plan, if the session holds the lease. */
  void start(long deadlineNanos) {
    PlanAsk started = ask;
    if (started != null && session.holds(lease)) {
      started.start(deadlineNanos);
    } else {
      refused(SessionPlans.noLease(lease));
    }
  }

  /** Another request for the same; false if this one was refused, so that it begins anew. */
  synchronized boolean join(Waiter waiter) {
    if (!refused) {
      waiting.add(waiter);
    }
    return !refused;
  }

  /** Whether it was granted or refused. */
  synchronized boolean over() {
    return plan != null || refused;
  }

  /** Answers those that wait, if there is a plan. */
  void tell() {
    List<Waiter> now;
    Plan granted;
    boolean first;
    synchronized (this) {
      granted = plan;
      if (granted == null) {
        return;
      }
      now = List.copyOf(waiting);
      waiting.clear();
      first = !told;
      told |= !now.isEmpty();
    }
    for (Waiter waiter : now) {
      // Only the answer that was told first may take the plan along if it is dropped.
      Runnable whenDropped = first ? () -> session.plans().neverTold(granted) : null;
      answer(waiter, SessionPlans.plan(waiter.requestId(), granted, whenDropped));
      first = false;
    }
  }

  @Override
  public void granted(Plan granted) {
    session.usedUp(lease);
    synchronized (this) {
      plan = granted;
      ask = null; // what it names is not needed any more, and may be long
    }
    tell();
  }

  @Override
  public void missed() {
    throw new IllegalStateException("a restore of lease " + lease + " can not miss");
  }

  @Override
  public void refused(TransportException why) {
    List<Waiter> all;
    synchronized (this) {
      refused = true;
      ask = null;
      all = List.copyOf(waiting);
      waiting.clear();
    }
    all.forEach(waiter -> answer(waiter, Answer.refusal(waiter.requestId(), why)));
  }

  /** What a request that waits for it can ask. */
  SessionPlans.Pending pending() {
    PlanAsk asked = ask;
    return asked == null ? OVER : asked;
  }

  private void answer(Waiter waiter, Answer answer) {
    session.plans().end(waiter.requestId());
    session.answer(SessionWork.Kind.QUERY, waiter.charge(), answer);
  }
}
