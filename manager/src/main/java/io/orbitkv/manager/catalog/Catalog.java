package io.orbitkv.manager.catalog;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import io.orbitkv.manager.memory.Pool;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The blocks in the pool, by name. The first seal of a name wins. When the pool is full, the least
 * recently used blocks that nobody holds are evicted.
 *
 * <p>Thread-safe; its lock is taken before the pool's.
 */
public final class Catalog {
  private static final boolean ACCESS_ORDER = true;

  /**
   * A block that is held.
   *
   * @param hold the caller's
   */
  public record Pinned(Block block, Hold hold) {}

  private final Pool pool;
  private final LinkedHashMap<BlockName, Block> blocks =
      new LinkedHashMap<>(1024, 0.75f, ACCESS_ORDER);
  private long evictions;

  /** An empty catalog over this pool. */
  public Catalog(Pool pool) {
    this.pool = pool;
  }

  /** Length of a block in bytes, or -1. Counts as a use: who asks is about to read. */
  public synchronized long locate(BlockName name) {
    Block block = blocks.get(name);
    return block == null ? -1 : block.bytes();
  }

  /** Whether a block of this name is here; does not count as a use. */
  public synchronized boolean contains(BlockName name) {
    return blocks.containsKey(name);
  }

  /** Finds a block and holds it, in one step; counts as a use. */
  public Optional<Hold> hold(BlockName name, HoldKind kind, Object holder) {
    return pin(name, kind, holder).map(Pinned::hold);
  }

  /** As {@link #hold}, with the block that is held. */
  public synchronized Optional<Pinned> pin(BlockName name, HoldKind kind, Object holder) {
    Block block = blocks.get(name);
    return block == null
        ? Optional.empty()
        : Optional.of(new Pinned(block, pool.hold(block.allocation(), kind, holder)));
  }

  /**
   * Takes memory for a new block, evicting as far as needed.
   *
   * @return a hold of kind FILLING on a new allocation
   * @throws TransportException INVALID if it can never fit, EXHAUSTED if all that could make room
   *     is held; in both cases nothing was reserved
   */
  public synchronized Hold reserve(long bytes, Object holder) {
    Optional<Hold> hold = pool.reserve(bytes, holder);
    while (hold.isEmpty()) {
      if (!evictOne()) {
        Pool.Usage usage = pool.usage();
        throw new TransportException(
            FaultCode.EXHAUSTED,
            "no room for "
                + bytes
                + " bytes: of "
                + usage.capacity()
                + " in the pool "
                + usage.free()
                + " are free, the rest is held; wait for leases, grants and tickets to end");
      }
      hold = pool.reserve(bytes, holder);
    }
    return hold.get();
  }

  /**
   * Makes a filled allocation known under its name and ends the filling hold.
   *
   * @param digest of its bytes; null if none is known. Never added later: it would vouch for what
   *     the memory has become
   * @return whether it is the block of that name now; if not, another one was first, and this
   *     allocation was given up
   */
  public synchronized boolean seal(BlockName name, Hold filling, @Nullable Digest digest) {
    boolean first = !blocks.containsKey(name);
    if (first) {
      pool.seal(filling.allocation());
      blocks.put(name, new Block(name, filling.allocation(), digest));
    } else {
      pool.retire(filling.allocation());
    }
    filling.end();
    return first;
  }

  /** As {@link #seal(BlockName, Hold, Digest)}, for a block without a digest. */
  public boolean seal(BlockName name, Hold filling) {
    return seal(name, filling, null);
  }

  /**
   * As {@link #seal(BlockName, Hold, Digest)}, and holds the block of that name in the same step,
   * so that nothing can evict it in between.
   */
  public synchronized Hold sealAndHold(
      BlockName name, Hold filling, @Nullable Digest digest, HoldKind kind, Object holder) {
    seal(name, filling, digest);
    return hold(name, kind, holder).orElseThrow();
  }

  /** Gives a reserved allocation up: it is free once its last hold has ended. */
  public void abandon(Hold filling) {
    pool.retire(filling.allocation());
    filling.end();
  }

  /** How many blocks. */
  public synchronized int size() {
    return blocks.size();
  }

  /** How many blocks were evicted so far. */
  public synchronized long evictions() {
    return evictions;
  }

  private boolean evictOne() {
    @Nullable Block victim = null;
    for (Iterator<Block> i = blocks.values().iterator(); i.hasNext() && victim == null; ) {
      Block block = i.next();
      if (!pool.held(block.allocation())) {
        victim = block;
        i.remove();
      }
    }
    if (victim == null) {
      return false;
    }
    evictions++;
    pool.retire(victim.allocation());
    return true;
  }
}
