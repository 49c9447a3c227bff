package io.orbitkv.manager.plan;

import io.orbitkv.adapter.plan.PlanLayout;
import io.orbitkv.adapter.plan.PlanMemory;
import io.orbitkv.adapter.restore.ClientOrdering;
import io.orbitkv.adapter.restore.MappedWord;
import io.orbitkv.ffm.Fd;
import io.orbitkv.manager.restore.RestoringSession;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One session as part of its instance: its claims, which only its engine writes, and the plans that
 * wait for them. Thread-safe. Ends by {@link #leave} or {@link #exited}, and then {@link #release}.
 */
public final class Member {
  /**
   * How a session copies.
   *
   * @param slot of the session
   * @param worker whether it is to redeem what is promised to every worker
   * @param ordering what its client does not order itself
   * @param deviceCopies whether its copies may be a device's
   */
  public record Traits(int slot, boolean worker, ClientOrdering ordering, boolean deviceCopies) {
    /** The same of a session in that slot. */
    public Traits at(int newSlot) {
      return new Traits(newSlot, worker, ordering, deviceCopies);
    }
  }

  private final InstancePlans instance;
  private final Traits traits;
  private final PlanMemory.Made claims;
  private final long firstGeneration;
  private final AtomicBoolean sent = new AtomicBoolean();
  private volatile Runnable whenChanged = () -> {};

  // Guarded by the instance.
  boolean open = true;
  boolean gone;
  int plans;

  Member(InstancePlans instance, Traits traits, PlanMemory.Made claims, long firstGeneration) {
    this.instance = instance;
    this.traits = traits;
    this.claims = claims;
    this.firstGeneration = firstGeneration;
  }

  /** The plans of its instance. */
  public InstancePlans instance() {
    return instance;
  }

  /** The first plan that it may claim. */
  public long firstGeneration() {
    return firstGeneration;
  }

  /** How it copies. */
  public Traits traits() {
    return traits;
  }

  /** The memfd of the plans and that of the claims; they stay its own. */
  public List<Fd> descriptors() {
    return List.of(instance.memfd(), claims.memfd());
  }

  /** They were sent, or never will be. */
  public void sent() {
    if (sent.compareAndSet(false, true)) {
      claims.memfd().close();
    }
  }

  /** Told, on any thread and without a lock held, when fewer plans wait for it. */
  public void whenChanged(Runnable action) {
    whenChanged = action;
  }

  /** Its session takes no further request: no new plan is granted to it. */
  public void close() {
    instance.close(this);
  }

  /** Leaves for good, if no plan waits for it; whether it did, now or before. */
  public boolean leave() {
    return instance.leave(this);
  }

  /** Its process is proven to be gone: its words are final. */
  public void exited() {
    instance.exited(this);
  }

  /** Its words are read no more, after {@link #leave} or {@link #exited}: unmaps them. */
  public void release() {
    sent();
    claims.mapping().close();
    instance.released();
  }

  RestoringSession restoring(int record) {
    return new RestoringSession(
        new MappedWord(claims.mapping().segment(), PlanLayout.claim(record)),
        traits.ordering(),
        traits.deviceCopies());
  }

  void changed() {
    whenChanged.run();
  }
}
