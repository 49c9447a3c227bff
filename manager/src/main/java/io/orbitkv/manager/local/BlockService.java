package io.orbitkv.manager.local;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.manager.plan.PlanPins;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What the same-host channel asks of the Manager. All methods are thread-safe. */
public interface BlockService {
  /** What became of a published block. */
  enum Published {
    /** Copied, sealed, in the catalog. */
    STORED,
    /** A block of that name was there already; nothing was copied. */
    PRESENT
  }

  /** Where a block of a leased read was found. */
  enum Origin {
    /** In this Manager's memory when it was asked for. */
    LOCAL,
    /** Fetched from a peer for this read. */
    PEER
  }

  /**
   * How a read is asked for.
   *
   * @param fetch whether missing blocks are fetched from peers
   * @param prefix whether the answer ends at the first block that is missing
   * @param deadlineNanos of {@link System#nanoTime()}: the answer is given by then, with what is
   *     here; the rest is a miss
   */
  record ReadOptions(boolean fetch, boolean prefix, long deadlineNanos) {}

  /**
   * One block of a leased read.
   *
   * @param index which of the names asked for
   * @param origin where it was found
   * @param arena index of its arena
   * @param offset in that arena, bytes
   * @param bytes its length
   * @param generation of its allocation
   */
  record LeasedBlock(
      int index, Origin origin, int arena, long offset, long bytes, long generation) {}

  /**
   * A leased read: its blocks stay pinned until {@link BlockService#release} or {@link
   * BlockService#processExited}.
   *
   * @param lease its name, 0 if no block was found (there is nothing to release then)
   * @param expiresAtNanos of {@link System#nanoTime()}; from then on the engine must not begin to
   *     read. Unpins nothing
   * @param blocks in the order of the names; misses are left out
   */
  record LeasedRead(long lease, long expiresAtNanos, List<LeasedBlock> blocks) {}

  /** One arena, to be mapped by engines. The descriptor stays the Manager's. */
  record SharedArena(int fd, long bytes) {}

  /** The arenas, in order of their index; fixed for the life of the Manager. */
  List<SharedArena> arenas();

  /**
   * Copies a block out of an engine's memory and makes it known. The copy is made by the calling
   * thread and is over when this returns or throws.
   *
   * @param source the engine's memory, mapped by this process; not null-length
   * @param digest whether the engine asked for a digest of the copy, which goes with the block to
   *     whoever fetches it
   * @throws io.orbitkv.api.TransportException INVALID if it is larger than the pool, EXHAUSTED if
   *     nothing more can be evicted, CLOSING; nothing was stored then
   */
  Published publish(BlockName name, MemorySegment source, boolean digest);

  /**
   * Reads blocks under a lease. Does not block: what takes long is answered later.
   *
   * @param holder the engine process (its session token): leases are charged to it
   * @return completes with what was found by the deadline; exceptionally with a {@link
   *     io.orbitkv.api.TransportException} only for EXHAUSTED limits, INVALID, CLOSING
   */
  CompletableFuture<LeasedRead> read(long holder, List<BlockName> names, ReadOptions options);

  /**
   * The engine's word that it reads the blocks of a lease no more.
   *
   * @throws io.orbitkv.api.TransportException NOT_FOUND if that holder has no such lease
   */
  void release(long holder, long lease);

  /**
   * Turns a lease into the pins of a plan; what the plan does not name is unpinned.
   *
   * @param generations of the allocations of the plan's blocks, in order; one may come twice
   * @param plan its name, for people
   * @throws io.orbitkv.api.TransportException NOT_FOUND if that holder has no such lease, or the
   *     lease no such block; nothing was done then
   */
  PlanPins pin(long holder, long lease, List<Long> generations, String plan);

  /**
   * Which blocks are here now. Pins nothing, so nothing is promised.
   *
   * @param prefix whether the answer ends at the first block that is missing
   * @return index and length, the rest 0
   */
  List<LeasedBlock> candidates(List<BlockName> names, boolean prefix);

  /**
   * The pidfd of the holder's process is readable: whatever it held ends, evidence OWNER_EXITED.
   */
  void processExited(long holder);

  /** The Manager's state for people and machines, as one JSON object. */
  String statusJson();
}
