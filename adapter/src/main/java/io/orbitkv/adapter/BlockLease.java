package io.orbitkv.adapter;

import io.orbitkv.adapter.wire.SharedMapping;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that the Manager found and keeps where they are until {@link #close()}, which is the
 * caller's to call. Thread-safe. The Manager's memory itself is never handed out: {@link #copyTo}
 * copies out of it.
 */
public final class BlockLease implements AutoCloseable {
  /** Where a block is, apart from what a caller may know. */
  record Place(SharedMapping arena, long offset, long generation) {}

  private final long id;
  private final long expiresAtNanos;
  private final List<LeasedBlock> blocks;
  private final Map<LeasedBlock, Place> places;
  private final Consumer<BlockLease> release;
  private final ReentrantLock lock = new ReentrantLock();
  private int inside;
  private boolean closed;

  // Of a restore that uses the lease up.
  private boolean asking;
  private long operation;
  private List<Long> wanted = List.of();
  private boolean usedUp;
  private @Nullable Runnable givesUp;

  /** A lease whose release is the given action, run once, by the last thread that leaves. */
  BlockLease(
      long id,
      long expiresAtNanos,
      List<LeasedBlock> blocks,
      List<Place> places,
      Consumer<BlockLease> release) {
    this.id = id;
    this.expiresAtNanos = expiresAtNanos;
    this.blocks = List.copyOf(blocks);
    this.places = HashMap.newHashMap(blocks.size());
    for (int i = 0; i < blocks.size(); i++) {
      this.places.put(blocks.get(i), places.get(i));
    }
    this.release = release;
  }

  /** Its name; 0 once a plan has used it up, so that there is nothing to release. */
  long id() {
    lock.lock();
    try {
      return usedUp ? 0 : id;
    } finally {
      lock.unlock();
    }
  }

  /** The number of the restore that {@link #beginUse} has reserved. */
  long operation() {
    lock.lock();
    try {
      return operation;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Begins to turn the lease into a plan, and forbids copies; {@link #endUse} follows.
   *
   * @param numbers gives the restore its number; asked once until a restore was refused
   * @return the generations of the allocations of those blocks
   */
  List<Long> beginUse(List<LeasedBlock> some, LongSupplier numbers) {
    List<Long> generations = new ArrayList<>(some.size());
    for (LeasedBlock block : some) {
      Place place = places.get(block);
      if (place == null) {
        throw new IllegalArgumentException("block " + block + " is not of this lease");
      }
      generations.add(place.generation());
    }
    lock.lock();
    try {
      if (closed || asking || inside > 0) {
        throw new IllegalStateException(
            "this lease is closed, or a copy or a restore of it is under way");
      }
      if (operation != 0 && !wanted.equals(generations)) {
        throw new IllegalArgumentException(
            "the outcome of a restore of other blocks of this lease is unknown; ask for the same");
      }
      if (operation == 0) {
        if (expired()) {
          throw new TransportException(
              FaultCode.GRANT_ENDED, "lease " + id + " has expired; ask for its blocks again");
        }
        operation = numbers.getAsLong();
        wanted = generations;
      }
      asking = true;
      return generations;
    } finally {
      lock.unlock();
    }
  }

  /** The restore was answered, or its outcome is not known: then copies stay forbidden. */
  void endUse(boolean known) {
    lock.lock();
    try {
      asking = false;
      if (known) {
        operation = 0;
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * The answer of a restore came when nobody waited for it any more: the plan is there, and is told
   * again to who asks again. It is given up by the action with this lease, unless somebody has.
   */
  void plannedLate(Runnable giveUp) {
    lock.lock();
    try {
      if (!closed) {
        givesUp = giveUp;
      }
      if (!closed || usedUp) {
        return;
      }
    } finally {
      lock.unlock();
    }
    giveUp.run();
  }

  /** A plan has taken it over: it is closed, and there is nothing to release. */
  void usedUp() {
    lock.lock();
    try {
      usedUp = true;
      givesUp = null;
    } finally {
      lock.unlock();
    }
    var _ = tryClose();
  }

  /** The blocks found, in the order of the names; a name that is not here was a miss. */
  public List<LeasedBlock> blocks() {
    return blocks;
  }

  /** Sum of the lengths of {@link #blocks()}, bytes. */
  public long bytes() {
    return blocks.stream().mapToLong(LeasedBlock::bytes).sum();
  }

  /** Whether a copy may begin no more. */
  public boolean expired() {
    return System.nanoTime() - expiresAtNanos >= 0;
  }

  /**
   * Copies a whole block to the start of the caller's buffer. The copy is over on return.
   *
   * @param block one of {@link #blocks()}
   * @param destination at least {@code block.bytes()} long, writable
   * @throws IllegalArgumentException if the block is not of this lease
   * @throws IndexOutOfBoundsException if the destination is too short
   * @throws IllegalStateException if this lease or its client is closed
   * @throws TransportException GRANT_ENDED if the lease had expired before the copy began, DENIED
   *     in a forked child
   */
  public void copyTo(LeasedBlock block, MemorySegment destination) {
    Place place = places.get(block);
    if (place == null) {
      throw new IllegalArgumentException("block " + block + " is not of this lease");
    }
    OwnProcess.check();
    enter();
    try {
      if (expired()) {
        throw new TransportException(
            FaultCode.GRANT_ENDED,
            "lease of block " + block.name() + " has expired; ask for the block again");
      }
      MemorySegment arena = place.arena().enter();
      if (arena == null) {
        throw new IllegalStateException("client of this lease is closed; connect again");
      }
      try {
        MemorySegment.copy(arena, place.offset(), destination, 0, block.bytes());
      } finally {
        place.arena().leave();
      }
    } finally {
      leave();
    }
  }

  /**
   * Tells the Manager that this process reads the blocks no more; after the last {@link #copyTo}
   * that is under way has left, for which it does not wait. If the connection is lost, the Manager
   * keeps the blocks until this process exits.
   *
   * @throws IllegalStateException if already closed
   */
  @Override
  public void close() {
    if (!tryClose()) {
      throw new IllegalStateException("this lease is already closed");
    }
  }

  /** As {@link #close()}; false if already closed. */
  boolean tryClose() {
    Runnable planned;
    boolean last;
    lock.lock();
    try {
      if (closed) {
        return false;
      }
      closed = true;
      planned = givesUp;
      last = inside == 0;
    } finally {
      lock.unlock();
    }
    if (planned != null) {
      planned.run();
    }
    if (last) {
      release.accept(this);
    }
    return true;
  }

  private void enter() {
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("this lease is closed; ask for its blocks again");
      }
      if (asking || operation != 0) {
        throw new IllegalStateException("this lease is being turned into a plan; restore that");
      }
      inside++;
    } finally {
      lock.unlock();
    }
  }

  private void leave() {
    lock.lock();
    try {
      inside--;
      if (inside > 0 || !closed) {
        return;
      }
    } finally {
      lock.unlock();
    }
    release.accept(this);
  }
}
