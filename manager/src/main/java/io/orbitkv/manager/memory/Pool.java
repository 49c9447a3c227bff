package io.orbitkv.manager.memory;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.PageSize;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The pool: the one authority over allocations, and the ledger of every hold on them. Reuse of
 * bytes asks it and nothing else: an allocation's range becomes free when it is retired and its
 * last hold has ended.
 *
 * <p>All methods are thread-safe and none blocks on anything but its own lock.
 */
public final class Pool {
  /**
   * How full the pool is, bytes.
   *
   * @param capacity of all arenas
   * @param free not allocated
   * @param retired out of the catalog and still held
   * @param quarantined held without evidence in sight
   * @param holds how many holds there are
   * @param quarantinedHolds how many of them are in quarantine
   */
  public record Usage(
      long capacity, long free, long retired, long quarantined, int holds, int quarantinedHolds) {}

  private final AtomicLong generations = new AtomicLong();
  private final List<MemoryArena> arenas = new ArrayList<>();
  private final List<FreeRanges> free = new ArrayList<>();
  private final Set<Hold> ledger = new LinkedHashSet<>();
  private final long capacity;
  private final long hugeBytes;
  private long retiredBytes;
  private long quarantinedBytes;
  private int quarantinedHolds;
  private int liveAllocations;

  /**
   * Maps and populates the arenas.
   *
   * @param bytes capacity, rounded up to whole pages; one arena holds all of it
   * @throws io.orbitkv.ffm.NativeException if the memory is not to be had; nothing stays mapped
   */
  public Pool(long bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("a pool of " + bytes + " bytes");
    }
    this.capacity = PageSize.roundUp(bytes);
    arenas.add(
        MemoryArena.create(0, new RegionId(0, generations.incrementAndGet()), this.capacity));
    hugeBytes = arenas.getFirst().hugeBytes();
    free.add(new FreeRanges(this.capacity));
  }

  /** As above, over an arena that stays the caller's: a simulation makes many pools in turn. */
  Pool(MemoryArena arena) {
    this.capacity = arena.bytes();
    this.hugeBytes = arena.hugeBytes();
    arenas.add(arena);
    free.add(new FreeRanges(arena.bytes()));
  }

  /** The arenas, in order of their index; fixed. */
  public List<MemoryArena> arenas() {
    return List.copyOf(arenas);
  }

  /** How many bytes of the arenas are known to be of huge pages; fixed. */
  public long hugeBytes() {
    return hugeBytes;
  }

  /** Bytes of all arenas. */
  public long capacity() {
    return capacity;
  }

  /**
   * Takes free bytes, if there are as many in one piece, and holds them for the caller.
   *
   * @return the hold on a new allocation in state RESERVED; empty if there is no such piece
   */
  public synchronized Optional<Hold> reserve(long bytes, Object holder) {
    if (bytes <= 0) {
      throw new TransportException(FaultCode.INVALID, "an allocation of " + bytes + " bytes");
    }
    if (bytes > capacity) {
      throw new TransportException(
          FaultCode.INVALID,
          "a block of "
              + bytes
              + " bytes does not fit a pool of "
              + capacity
              + " bytes; start the Manager with a larger --pool-bytes");
    }
    long reserved = PageSize.roundUp(bytes);
    for (int i = 0; i < free.size(); i++) {
      OptionalLong offset = free.get(i).take(reserved);
      if (offset.isPresent()) {
        Allocation allocation =
            new Allocation(
                arenas.get(i), offset.getAsLong(), bytes, reserved, generations.incrementAndGet());
        liveAllocations++;
        return Optional.of(hold(allocation, HoldKind.FILLING, holder));
      }
    }
    return Optional.empty();
  }

  /**
   * Adds a hold.
   *
   * @throws IllegalStateException if the bytes may be somebody else's already: FREED, or RETIRED
   *     without another hold
   */
  public synchronized Hold hold(Allocation allocation, HoldKind kind, Object holder) {
    if (allocation.state == AllocationState.FREED
        || (allocation.state == AllocationState.RETIRED && allocation.holds == 0)) {
      throw new IllegalStateException(allocation + " is " + allocation.state + "; can not be held");
    }
    Hold hold = new Hold(this, allocation, kind, holder);
    allocation.holds++;
    ledger.add(hold);
    return hold;
  }

  /** Makes a filled allocation immutable and readable. */
  public synchronized void seal(Allocation allocation) {
    become(allocation, AllocationState.SEALED);
  }

  /** Gives an allocation up: its bytes are free as soon as the last hold on it has ended. */
  public synchronized void retire(Allocation allocation) {
    become(allocation, AllocationState.RETIRED);
    retiredBytes += allocation.reservedBytes();
    freeIfUnheld(allocation);
  }

  /** Whether any hold is on it. */
  public synchronized boolean held(Allocation allocation) {
    return allocation.holds > 0;
  }

  /** Its state now. */
  public synchronized AllocationState state(Allocation allocation) {
    return allocation.state;
  }

  /** Every hold there is, oldest first. */
  public synchronized List<Hold> holds() {
    return List.copyOf(ledger);
  }

  /** How full it is. */
  public synchronized Usage usage() {
    long freeBytes = 0;
    for (FreeRanges ranges : free) {
      freeBytes += ranges.freeBytes();
    }
    return new Usage(
        capacity, freeBytes, retiredBytes, quarantinedBytes, ledger.size(), quarantinedHolds);
  }

  /**
   * Unmaps the arenas.
   *
   * @throws TransportException IN_USE while a hold is left; everything stays mapped
   */
  public synchronized void close() {
    if (!ledger.isEmpty()) {
      throw new TransportException(
          FaultCode.IN_USE,
          "the pool has " + ledger.size() + " holds, the first is a " + ledger.iterator().next());
    }
    arenas.forEach(MemoryArena::close);
    arenas.clear();
  }

  synchronized void end(Hold hold) {
    if (hold.ended) {
      throw new IllegalStateException(hold + " was ended before");
    }
    hold.ended = true;
    ledger.remove(hold);
    Allocation allocation = hold.allocation();
    allocation.holds--;
    if (hold.quarantined) {
      quarantinedHolds--;
      if (--allocation.quarantinedHolds == 0) {
        quarantinedBytes -= allocation.reservedBytes();
      }
    }
    freeIfUnheld(allocation);
  }

  synchronized void quarantine(Hold hold) {
    if (hold.ended || hold.quarantined) {
      return;
    }
    hold.quarantined = true;
    quarantinedHolds++;
    if (hold.allocation().quarantinedHolds++ == 0) {
      quarantinedBytes += hold.allocation().reservedBytes();
    }
  }

  private void freeIfUnheld(Allocation allocation) {
    if (allocation.state == AllocationState.RETIRED && allocation.holds == 0) {
      become(allocation, AllocationState.FREED);
      retiredBytes -= allocation.reservedBytes();
      liveAllocations--;
      free.get(allocation.arena().index()).give(allocation.offset(), allocation.reservedBytes());
    }
  }

  private static void become(Allocation allocation, AllocationState next) {
    if (!allocation.state.canBecome(next)) {
      throw new IllegalStateException(
          allocation + " can not go from " + allocation.state + " to " + next);
    }
    allocation.state = next;
  }

  @Override
  public synchronized String toString() {
    return "pool of " + capacity + " bytes, " + liveAllocations + " allocations";
  }
}
