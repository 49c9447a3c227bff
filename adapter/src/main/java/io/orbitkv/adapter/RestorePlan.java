package io.orbitkv.adapter;

import io.orbitkv.adapter.plan.PlanBlock;
import io.orbitkv.adapter.restore.RestoreClaim;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that the Manager has pinned for this engine instance, and this session's claim of them.
 * Thread-safe. Named by {@link #record} and {@link #generation}, plain numbers that another process
 * of the instance passes to {@link EnginePlans#redeem}. Ends by {@link #restore} or {@link
 * #cancel}, once; both work when the Manager has died. Until then the blocks stay pinned.
 */
public final class RestorePlan {
  private static final long PART_BYTES = 64L << 20;

  private final EnginePlans plans;
  private final PlanAccess access;
  private final int record;
  private final long generation;
  private final List<PlanBlock> blocks;
  private final RestoreClaim claim;

  RestorePlan(
      EnginePlans plans,
      PlanAccess access,
      int record,
      long generation,
      List<PlanBlock> blocks,
      RestoreClaim claim) {
    this.plans = plans;
    this.access = access;
    this.record = record;
    this.generation = generation;
    this.blocks = List.copyOf(blocks);
    this.claim = claim;
  }

  /** Index of its record, 0 to 1,023. */
  public int record() {
    return record;
  }

  /** Names it, together with the record; never used twice by a Manager. */
  public long generation() {
    return generation;
  }

  /** Its blocks, in order. */
  public List<PlannedBlock> blocks() {
    return blocks.stream()
        .map(block -> new PlannedBlock((int) block.index(), block.bytes()))
        .toList();
  }

  /** Sum of the lengths of {@link #blocks()}, bytes. */
  public long bytes() {
    return blocks.stream().mapToLong(PlanBlock::bytes).sum();
  }

  /** As {@link #restore(List, Executor)}, all of it on the calling thread. */
  public void restore(List<MemorySegment> destinations) {
    restore(destinations, Runnable::run);
  }

  /**
   * Claims the plan and copies each block to the start of its destination, in parts of 64 MiB or a
   * block. All is over on return, also if this throws.
   *
   * @param destinations one a block, in order, each at least as long, writable
   * @param executor runs the parts
   * @throws IllegalArgumentException if the destinations do not fit; then nothing was claimed
   * @throws IllegalStateException if this session claimed or cancelled it before, or its client is
   *     closed
   * @throws TransportException GRANT_ENDED if the plan was revoked or has ended: nothing was
   *     copied; DENIED in a forked child; INTERNAL if a part could not be copied: the destinations
   *     are not whole
   */
  public void restore(List<MemorySegment> destinations, Executor executor) {
    OwnProcess.check();
    check(destinations);
    List<MemorySegment> arenas = access.enter();
    if (arenas == null) {
      throw new IllegalStateException("client of plan " + this + " is closed; connect again");
    }
    try {
      List<List<Integer>> parts = parts();
      if (!claim.claim(parts.size())) {
        throw access.ended(record, generation);
      }
      copy(parts, arenas, destinations, executor);
    } finally {
      access.leave();
      plans.ended(this);
    }
  }

  private void check(List<MemorySegment> destinations) {
    if (destinations.size() != blocks.size()) {
      throw new IllegalArgumentException(
          destinations.size() + " destinations for " + blocks.size() + " blocks");
    }
    for (int i = 0; i < blocks.size(); i++) {
      MemorySegment to = destinations.get(i);
      if (to.isReadOnly() || to.byteSize() < blocks.get(i).bytes()) {
        throw new IllegalArgumentException(
            "destination "
                + i
                + " is read-only, or shorter than the "
                + blocks.get(i).bytes()
                + " bytes of its block");
      }
    }
  }

  private List<List<Integer>> parts() {
    List<List<Integer>> parts = new ArrayList<>();
    long bytes = PART_BYTES;
    for (int i = 0; i < blocks.size(); i++) {
      if (bytes >= PART_BYTES) {
        parts.add(new ArrayList<>());
        bytes = 0;
      }
      parts.getLast().add(i);
      bytes += blocks.get(i).bytes();
    }
    return parts;
  }

  private void copy(
      List<List<Integer>> parts,
      List<MemorySegment> arenas,
      List<MemorySegment> destinations,
      Executor executor) {
    CountDownLatch open = new CountDownLatch(parts.size());
    AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
    for (List<Integer> part : parts) {
      AtomicBoolean begun = new AtomicBoolean();
      Runnable copy =
          () -> {
            if (!begun.compareAndSet(false, true)) {
              return;
            }
            boolean whole = false;
            try {
              for (int i : part) {
                PlanBlock block = blocks.get(i);
                MemorySegment from = arenas.get((int) block.arena());
                MemorySegment.copy(from, block.offset(), destinations.get(i), 0, block.bytes());
              }
              whole = true;
            } catch (RuntimeException | Error e) {
              // Also InternalError: how the JVM tells of a fault in the engine's memory.
              failed.compareAndSet(null, e);
            } finally {
              var _ = claim.endPart(whole);
              open.countDown();
            }
          };
      try {
        executor.execute(copy);
      } catch (RuntimeException | Error e) {
        // Rejected, or out of threads. Should it run all the same, one of both ends the part.
        failed.compareAndSet(null, e);
        if (begun.compareAndSet(false, true)) {
          var _ = claim.endPart(false);
          open.countDown();
        }
      }
    }
    awaitAll(open);
    Throwable fault = failed.get();
    if (fault != null) {
      throw new TransportException(
          FaultCode.INTERNAL,
          "plan " + this + ": not every block was copied: " + fault + "; compute them again",
          fault);
    }
  }

  /** A part that goes on must not outlive the call, so an interrupt waits for the end. */
  private static void awaitAll(CountDownLatch open) {
    boolean interrupted = false;
    while (true) {
      try {
        open.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Cancels the plan for the whole instance. It is given up here first, so that this session can
   * not begin a copy meanwhile.
   *
   * @throws TransportException DEADLINE if the Manager did not answer; ask again. DENIED in a
   *     forked child
   */
  public PlanCancellation cancel() {
    OwnProcess.check();
    boolean givenUp = claim.cancel();
    return plans.cancel(this, givenUp);
  }

  /**
   * How it stands, by the Manager's word.
   *
   * @throws TransportException PEER_LOST, DEADLINE
   */
  public PlanReport observe() {
    return plans.observe(record, generation);
  }

  /** Its name. */
  @Override
  public String toString() {
    return record + "." + generation;
  }
}
