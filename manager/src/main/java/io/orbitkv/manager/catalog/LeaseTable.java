package io.orbitkv.manager.catalog;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.memory.Hold;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The leases of engine processes on blocks. A lease ends by the engine's word that it reads no
 * more, or by the exit of its process. The passing of its time forbids new reads and unpins
 * nothing.
 *
 * <p>Thread-safe.
 */
public final class LeaseTable {
  private record Lease(long holder, long expiresAtNanos, List<Hold> holds) {}

  private final Map<Long, Lease> leases = new HashMap<>();
  private final Map<Long, Integer> pendingReads = new HashMap<>();
  private final Set<Long> exited = new HashSet<>();
  private final long lifetimeNanos;
  private final LongSupplier clock;
  private long lastId;

  /** A table whose leases last so long, in ns. */
  public LeaseTable(long lifetimeNanos) {
    this(lifetimeNanos, System::nanoTime);
  }

  /** As above, with a clock that a simulation drives. */
  LeaseTable(long lifetimeNanos, LongSupplier clock) {
    this.lifetimeNanos = lifetimeNanos;
    this.clock = clock;
  }

  /**
   * A lease that was granted.
   *
   * @param id its name, never 0 and never used again
   * @param expiresAtNanos of {@link System#nanoTime()}
   */
  public record Granted(long id, long expiresAtNanos) {}

  /** A read of this holder has begun; {@link #end} follows, whatever comes of it. */
  public synchronized void begin(long holder) {
    pendingReads.merge(holder, 1, Integer::sum);
  }

  /** A read of this holder has ended. */
  public synchronized void end(long holder) {
    if (pendingReads.merge(holder, -1, Integer::sum) == 0) {
      pendingReads.remove(holder);
      exited.remove(holder);
    }
  }

  /**
   * Makes a lease of holds; it owns them from now on.
   *
   * @return the lease; empty if the holder's process has exited meanwhile: the holds are ended then
   */
  public Optional<Granted> grant(long holder, List<Hold> holds) {
    synchronized (this) {
      if (!exited.contains(holder)) {
        return Optional.of(add(holder, holds));
      }
    }
    holds.forEach(Hold::end);
    return Optional.empty();
  }

  private Granted add(long holder, List<Hold> holds) {
    long expiresAt = clock.getAsLong() + lifetimeNanos;
    long id = ++lastId;
    leases.put(id, new Lease(holder, expiresAt, List.copyOf(holds)));
    return new Granted(id, expiresAt);
  }

  /**
   * The engine reads no more.
   *
   * @throws TransportException NOT_FOUND if this holder has no such lease
   */
  public void release(long holder, long id) {
    Lease lease;
    synchronized (this) {
      lease = leases.get(id);
      if (lease == null || lease.holder != holder) {
        throw new TransportException(
            FaultCode.NOT_FOUND, "no lease " + id + " of this session; was it released before?");
      }
      leases.remove(id);
    }
    lease.holds.forEach(Hold::end);
  }

  /**
   * Ends a lease and hands its holds to the caller.
   *
   * @param generations allocations that it must hold
   * @throws TransportException NOT_FOUND if this holder has no such lease, or it does not hold one
   *     of them; it is as it was then
   */
  public synchronized List<Hold> take(long holder, long id, Collection<Long> generations) {
    Lease lease = leases.get(id);
    if (lease == null || lease.holder != holder) {
      throw new TransportException(
          FaultCode.NOT_FOUND, "no lease " + id + " of this session; was it released before?");
    }
    Set<Long> held = new HashSet<>();
    lease.holds.forEach(hold -> held.add(hold.allocation().generation()));
    for (Long generation : generations) {
      if (!held.contains(generation)) {
        throw new TransportException(
            FaultCode.NOT_FOUND, "lease " + id + " has no block of generation " + generation);
      }
    }
    leases.remove(id);
    return lease.holds;
  }

  /** The holder's process has exited: all its leases end. */
  public void releaseAll(long holder) {
    List<Lease> ended;
    synchronized (this) {
      ended = leases.values().stream().filter(lease -> lease.holder == holder).toList();
      leases.values().removeIf(lease -> lease.holder == holder);
      if (pendingReads.containsKey(holder)) {
        exited.add(holder);
      }
    }
    ended.forEach(lease -> lease.holds.forEach(Hold::end));
  }

  /** How many leases there are. */
  public synchronized int size() {
    return leases.size();
  }

  /** How many of them are past their time and still hold memory. */
  public synchronized long expired() {
    long now = clock.getAsLong();
    return leases.values().stream().filter(lease -> lease.expiresAtNanos - now < 0).count();
  }
}
