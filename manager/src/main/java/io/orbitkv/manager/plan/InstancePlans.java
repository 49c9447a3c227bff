package io.orbitkv.manager.plan;

import io.orbitkv.adapter.plan.PlanLayout;
import io.orbitkv.adapter.plan.PlanMemory;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.manager.restore.CancelAnswer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plans of one engine instance, and the requests that wait for room. Thread-safe: one lock,
 * under which words are read and pins end, and nobody outside is told anything. Looks at the words
 * when it is asked or woken, never by a timer.
 */
public final class InstancePlans {
  private static final Logger LOG = LoggerFactory.getLogger(InstancePlans.class);

  private final PlanRecords records;
  private final AtomicLong generations;
  private final long firstGeneration;
  private final long maxPromisedBytes;
  private final Runnable whenMaybeEmpty;
  private final Set<Plan> open = new HashSet<>();
  private final Set<Member> members = new HashSet<>();
  private final Deque<PlanRequest> waiting = new ArrayDeque<>();
  private long promisedBytes;
  private int quarantined;
  private boolean ended;

  /** Takes the memory over; generations are the Manager's, so that no number names two plans. */
  InstancePlans(
      PlanMemory.Made memory,
      AtomicLong generations,
      long maxPromisedBytes,
      Runnable whenMaybeEmpty) {
    this.records = new PlanRecords(memory);
    this.generations = generations;
    this.firstGeneration = generations.get() + 1;
    this.maxPromisedBytes = maxPromisedBytes;
    this.whenMaybeEmpty = whenMaybeEmpty;
  }

  Fd memfd() {
    return records.memfd();
  }

  synchronized Member join(Member.Traits traits) {
    Member member = new Member(this, traits, PlanMemory.createClaims(), generations.get() + 1);
    members.add(member);
    return member;
  }

  /**
   * Asks for a plan. Its answer is given before this returns, or once there is room.
   *
   * @return false if it waits for room; {@link #withdraw} takes it back then
   * @throws TransportException EXHAUSTED if it never fits; nobody is told anything then
   */
  public boolean ask(PlanRequest request) {
    if (request.blocks().size() > PlanLayout.BLOCKS) {
      throw new TransportException(
          FaultCode.EXHAUSTED,
          request.blocks().size()
              + " blocks do not fit a plan bank of "
              + PlanLayout.BLOCKS
              + "; ask for them in several plans");
    }
    List<Runnable> after = new ArrayList<>();
    boolean answered;
    synchronized (this) {
      answered = waiting.isEmpty() && tryGrant(request, after);
      if (!answered) {
        waiting.add(request);
        lookAtAll(after);
        grantWaiting(after);
        answered = !waiting.contains(request);
      }
    }
    after.forEach(Runnable::run);
    return answered;
  }

  /** Takes a request back that waits for room; false if it was answered. */
  public synchronized boolean withdraw(PlanRequest request) {
    return waiting.remove(request);
  }

  /** Whether it waits for room. */
  public synchronized boolean waits(PlanRequest request) {
    return waiting.contains(request);
  }

  /** Cancels a plan, for the reason that its record will tell. */
  public PlanCancel cancel(long record, long generation, String why) {
    List<Runnable> after = new ArrayList<>();
    PlanCancel answer;
    synchronized (this) {
      answer = cancel(find(record, generation), generation, why, after);
    }
    after.forEach(Runnable::run);
    return answer;
  }

  private PlanCancel cancel(
      @Nullable Plan plan, long generation, String why, List<Runnable> after) {
    if (plan == null) {
      return PlanCancel.UNKNOWN;
    }
    if (plan.ended() || plan.generation() != generation) {
      return PlanCancel.ENDED;
    }
    if (!plan.promise().isRevoked()) {
      plan.because(why);
    }
    CancelAnswer answer = plan.promise().cancel();
    look(plan, after);
    grantWaiting(after);
    return answer == CancelAnswer.WON ? PlanCancel.WON : PlanCancel.LOST_TO_ACTIVE;
  }

  /** Looks at the words of a plan: how it stands. */
  public PlanSight observe(long record, long generation) {
    List<Runnable> after = new ArrayList<>();
    PlanSight sight;
    synchronized (this) {
      Plan plan = find(record, generation);
      if (plan == null) {
        return new PlanSight(PlanState.UNKNOWN, Set.of());
      }
      if (plan.generation() != generation) {
        return new PlanSight(PlanState.FORGOTTEN, Set.of());
      }
      look(plan, after);
      sight = plan.sight();
      grantWaiting(after);
    }
    after.forEach(Runnable::run);
    return sight;
  }

  /** The plan of that name, or the one that has its record by now; null if there never was one. */
  private @Nullable Plan find(long record, long generation) {
    return ended || generation < firstGeneration ? null : records.find(record, generation);
  }

  void close(Member member) {
    List<Runnable> after = new ArrayList<>();
    synchronized (this) {
      member.open = false;
      refuseWaiting(member, after);
    }
    after.forEach(Runnable::run);
  }

  private void refuseWaiting(Member member, List<Runnable> after) {
    for (PlanRequest request : List.copyOf(waiting)) {
      if (request.asker() == member) {
        waiting.remove(request);
        after.add(() -> request.answer().refused(askerGone()));
      }
    }
  }

  synchronized boolean leave(Member member) {
    if (member.plans > 0 && !member.gone) {
      return false;
    }
    member.open = false;
    members.remove(member);
    return true;
  }

  void exited(Member member) {
    List<Runnable> after = new ArrayList<>();
    synchronized (this) {
      if (member.gone || ended) {
        return;
      }
      member.gone = true;
      member.open = false;
      members.remove(member);
      refuseWaiting(member, after);
      for (Plan plan : List.copyOf(open)) {
        exited(member, plan, after);
      }
      grantWaiting(after);
    }
    after.forEach(Runnable::run);
  }

  private void exited(Member member, Plan plan, List<Runnable> after) {
    int index = plan.members().indexOf(member);
    if (plan.asker() == member && !plan.promise().isRevoked()) {
      plan.because("the process that asked for it has exited");
      plan.promise().schedulerExited();
    }
    if (index >= 0) {
      plan.promise().exited(index);
      look(plan, after);
    }
  }

  synchronized boolean isEmpty() {
    return members.isEmpty() && open.isEmpty();
  }

  synchronized int open() {
    return open.size() + quarantined;
  }

  synchronized int deferred() {
    return waiting.size();
  }

  synchronized long promisedBytes() {
    return promisedBytes;
  }

  void released() {
    whenMaybeEmpty.run();
  }

  /** Unmaps its memory: nothing writes a word any more. */
  void end() {
    List<PlanRequest> left;
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
      left = List.copyOf(waiting);
      waiting.clear();
      records.close();
    }
    left.forEach(request -> request.answer().refused(askerGone()));
  }

  /**
   * Shortens a promise to its first blocks, under a new name, if no session has claimed it.
   *
   * @return the new plan; null if that was not to be, as {@code how} was told
   */
  public @Nullable Plan revise(long record, long generation, int keep, List<PlanCancel> how) {
    List<Runnable> after = new ArrayList<>();
    Plan revised;
    synchronized (this) {
      revised = revise(find(record, generation), generation, keep, how, after);
      grantWaiting(after);
    }
    after.forEach(Runnable::run);
    return revised;
  }

  private @Nullable Plan revise(
      @Nullable Plan plan, long generation, int keep, List<PlanCancel> how, List<Runnable> after) {
    if (plan == null || plan.ended() || plan.generation() != generation) {
      how.add(plan == null ? PlanCancel.UNKNOWN : PlanCancel.ENDED);
      return null;
    }
    if (keep < 1 || keep > plan.blocks().size()) {
      throw new TransportException(
          FaultCode.INVALID,
          "revise: " + keep + " blocks of a plan of " + plan.blocks().size() + "; keep 1 to all");
    }
    look(plan, after);
    if (plan.ended() || plan.sight().state() != PlanState.GRANTED || !plan.asker().open) {
      how.add(plan.ended() ? PlanCancel.ENDED : PlanCancel.LOST_TO_ACTIVE);
      return null;
    }
    // Before anything is given up for it.
    PlanRecords.checkCount(openSessions());
    PlanRequest request = plan.shortened(keep);
    plan.keepsPins(true);
    plan.because("revised to its first " + keep + " blocks");
    if (plan.promise().cancel() != CancelAnswer.WON) {
      plan.keepsPins(false);
      how.add(PlanCancel.LOST_TO_ACTIVE);
      look(plan, after);
      return null;
    }
    // Its pins are this thread's now: nothing can read for the old plan, and the new one is next.
    look(plan, after);
    plan.pins().keepFirst(keep);
    PlanRecords.Place place = Objects.requireNonNull(records.take(keep), "room of the old plan");
    return grant(request, place);
  }

  /** Goes as far with a plan as its words allow. */
  private void look(Plan plan, List<Runnable> after) {
    if (plan.ended() || !open.contains(plan)) {
      return;
    }
    boolean reaped = plan.promise().poll();
    if (!reaped
        && !plan.promise().isRevoked()
        && plan.promise().claims().redeemed() >= plan.header().redeemers()) {
      plan.promise().redeemed();
      reaped = plan.promise().poll();
    }
    String violation = plan.promise().violation();
    if (violation != null && plan.distrust()) {
      LOG.warn("{} waits for the exit of a process: {}", plan, violation);
    }
    if (reaped) {
      plan.end();
      records.ended(plan);
      promisedBytes -= plan.promisedBytes();
    } else if (plan.promise().isQuarantined()) {
      LOG.warn("{}: a process exited while a device may have copied; its blocks stay held", plan);
      quarantined++;
    } else {
      return;
    }
    open.remove(plan);
    for (Member member : plan.members()) {
      member.plans--;
      after.add(member::changed);
    }
  }

  private void lookAtAll(List<Runnable> after) {
    for (Plan plan : List.copyOf(open)) {
      look(plan, after);
    }
  }

  private void grantWaiting(List<Runnable> after) {
    PlanRequest next = waiting.peek();
    while (next != null && !ended && tryGrant(next, after)) {
      waiting.remove();
      next = waiting.peek();
    }
  }

  /** Whether it was answered; false if it has to wait for room. */
  private boolean tryGrant(PlanRequest request, List<Runnable> after) {
    if (ended || !request.asker().open) {
      after.add(() -> request.answer().refused(askerGone()));
      return true;
    }
    int count = request.blocks().size();
    if (request.kind() == PlanKind.PROMISE) {
      count = request.fitting(maxPromisedBytes - promisedBytes);
      if (count < request.blocks().size()) {
        lookAtAll(after);
        count = request.fitting(maxPromisedBytes - promisedBytes);
      }
    }
    if (count == 0) {
      after.add(() -> request.answer().missed());
      return true;
    }
    PlanRecords.Place place = records.take(count);
    if (place == null) {
      return false;
    }
    try {
      Plan plan = grant(request, place);
      after.add(() -> request.answer().granted(plan));
    } catch (TransportException e) {
      after.add(() -> request.answer().refused(e));
    }
    return true;
  }

  private List<Member> openSessions() {
    return members.stream().filter(member -> member.open).toList();
  }

  private Plan grant(PlanRequest request, PlanRecords.Place place) {
    List<Member> sessions = openSessions();
    Plan plan = records.grant(place, request, generations, sessions);
    sessions.forEach(member -> member.plans++);
    open.add(plan);
    promisedBytes += plan.promisedBytes();
    return plan;
  }

  private static TransportException askerGone() {
    return new TransportException(
        FaultCode.CLOSING, "plan: the session that asked for it, or the Manager, is ending");
  }
}
