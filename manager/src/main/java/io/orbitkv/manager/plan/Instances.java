package io.orbitkv.manager.plan;

import io.orbitkv.adapter.plan.PlanMemory;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.NativeException;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The engine instances of a Manager: an instance begins with its first session and ends with its
 * last. Thread-safe; its lock is taken before an instance's.
 */
public final class Instances {
  /** Random, so that the numbers of another Manager's plans mean nothing to this one. */
  private static final long FIRST_GENERATIONS = 1L << 48;

  private final Epoch epoch;
  private final long maxPromisedBytes;
  private final AtomicLong generations =
      new AtomicLong(new SecureRandom().nextLong(FIRST_GENERATIONS));
  private final Map<String, InstancePlans> byName = new HashMap<>();
  private boolean closed;

  /**
   * No instances yet.
   *
   * @param epoch of the Manager
   * @param maxPromisedBytes what may be promised to one instance at once, bytes
   */
  public Instances(Epoch epoch, long maxPromisedBytes) {
    this.epoch = epoch;
    this.maxPromisedBytes = maxPromisedBytes;
  }

  /**
   * Adds a session.
   *
   * @param name of its instance
   * @throws TransportException DEVICE if its memory is not to be had, CLOSING
   */
  public synchronized Member join(String name, Member.Traits traits) {
    if (closed) {
      throw new TransportException(
          FaultCode.CLOSING, "Manager is stopping; connect again once it runs");
    }
    InstancePlans instance = byName.get(name);
    try {
      if (instance == null) {
        instance =
            new InstancePlans(
                PlanMemory.createPlans(epoch),
                generations,
                maxPromisedBytes,
                () -> dropIfEmpty(name));
        byName.put(name, instance);
      }
      return instance.join(traits);
    } catch (NativeException e) {
      dropIfEmpty(name);
      throw new TransportException(
          FaultCode.DEVICE,
          "the Manager can not make memory for plans: " + e.getMessage() + "; raise its limits",
          e);
    }
  }

  /** Plans that have not ended, of all instances; those in quarantine included. */
  public synchronized int open() {
    return byName.values().stream().mapToInt(InstancePlans::open).sum();
  }

  /** Requests that wait for room, of all instances. */
  public synchronized int deferred() {
    return byName.values().stream().mapToInt(InstancePlans::deferred).sum();
  }

  /** Bytes that are promised and not ended, of all instances. */
  public synchronized long promisedBytes() {
    return byName.values().stream().mapToLong(InstancePlans::promisedBytes).sum();
  }

  /** Ends what this process has of it; what was granted stays so for its engines. */
  public void close() {
    List<InstancePlans> left;
    synchronized (this) {
      closed = true;
      left = List.copyOf(byName.values());
      byName.clear();
    }
    left.forEach(InstancePlans::end);
  }

  private synchronized void dropIfEmpty(String name) {
    InstancePlans instance = byName.get(name);
    if (instance != null && instance.isEmpty()) {
      byName.remove(name);
      instance.end();
    }
  }
}
