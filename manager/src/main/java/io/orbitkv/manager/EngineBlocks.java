package io.orbitkv.manager;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.catalog.Catalog;
import io.orbitkv.manager.catalog.Digest;
import io.orbitkv.manager.catalog.LeaseTable;
import io.orbitkv.manager.config.DigestPolicy;
import io.orbitkv.manager.local.BlockService;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.MemoryArena;
import io.orbitkv.manager.memory.Pool;
import io.orbitkv.manager.plan.PlanPins;
import io.orbitkv.manager.transfer.BlockReader;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What engines can do with the blocks of this Manager. */
final class EngineBlocks implements BlockService {
  private static final Logger LOG = LoggerFactory.getLogger(EngineBlocks.class);

  private final Pool pool;
  private final Catalog catalog;
  private final LeaseTable leases;
  private final BlockReader reader;
  private final DigestPolicy digests;
  private final long maxGrantedBytes;
  private final Supplier<String> status;
  private final AtomicBoolean warned = new AtomicBoolean();
  private final LongAdder publishedBlocks = new LongAdder();
  private final LongAdder publishedBytes = new LongAdder();
  private final LongAdder digestsTaken = new LongAdder();
  private volatile boolean closed;

  /**
   * Over that pool.
   *
   * @param maxGrantedBytes the longest block that a peer can be granted, bytes
   * @param status tells the Manager's state
   */
  EngineBlocks(
      Pool pool,
      Catalog catalog,
      LeaseTable leases,
      BlockReader reader,
      DigestPolicy digests,
      long maxGrantedBytes,
      Supplier<String> status) {
    this.pool = pool;
    this.catalog = catalog;
    this.leases = leases;
    this.reader = reader;
    this.digests = digests;
    this.maxGrantedBytes = maxGrantedBytes;
    this.status = status;
  }

  @Override
  public List<SharedArena> arenas() {
    return pool.arenas().stream().map(EngineBlocks::shared).toList();
  }

  @Override
  public Published publish(BlockName name, MemorySegment source, boolean asked) {
    checkOpen();
    if (catalog.contains(name)) {
      return Published.PRESENT;
    }
    Hold filling = catalog.reserve(source.byteSize(), name);
    Digest digest = null;
    try {
      MemorySegment to = filling.allocation().memory();
      if (asked || digests == DigestPolicy.ALWAYS) {
        digest = Digest.ofCopy(source, to);
      } else {
        MemorySegment.copy(source, 0, to, 0, source.byteSize());
      }
    } catch (RuntimeException | Error e) {
      // Also InternalError: how the JVM tells of a fault in the engine's memory.
      catalog.abandon(filling);
      throw e;
    }
    if (!catalog.seal(name, filling, digest)) {
      return Published.PRESENT;
    }
    if (digest != null) {
      digestsTaken.increment();
    }
    publishedBlocks.increment();
    publishedBytes.add(source.byteSize());
    if (source.byteSize() > maxGrantedBytes && warned.compareAndSet(false, true)) {
      LOG.warn(
          "a block of {} bytes was published, and no peer can have it: --max-pinned-bytes-per-peer"
              + " is {}; raise it here, or publish smaller blocks (said once)",
          source.byteSize(),
          maxGrantedBytes);
    }
    return Published.STORED;
  }

  @Override
  public CompletableFuture<LeasedRead> read(
      long holder, List<BlockName> names, ReadOptions options) {
    checkOpen();
    return reader.read(holder, names, options);
  }

  @Override
  public void release(long holder, long lease) {
    leases.release(holder, lease);
  }

  @Override
  public PlanPins pin(long holder, long lease, List<Long> generations, String plan) {
    return PlanHolds.of(pool, leases.take(holder, lease, generations), generations, plan);
  }

  @Override
  public List<LeasedBlock> candidates(List<BlockName> names, boolean prefix) {
    checkOpen();
    List<LeasedBlock> found = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      long bytes = catalog.locate(names.get(i));
      if (bytes >= 0) {
        found.add(new LeasedBlock(i, Origin.LOCAL, 0, 0, bytes, 0));
      } else if (prefix) {
        break;
      }
    }
    return found;
  }

  @Override
  public void processExited(long holder) {
    leases.releaseAll(holder);
  }

  @Override
  public String statusJson() {
    return status.get();
  }

  void close() {
    closed = true;
  }

  long publishedBlocks() {
    return publishedBlocks.sum();
  }

  long publishedBytes() {
    return publishedBytes.sum();
  }

  /** Blocks that were stored with a digest. */
  long digestsTaken() {
    return digestsTaken.sum();
  }

  private void checkOpen() {
    if (closed) {
      throw new TransportException(FaultCode.CLOSING, "this Manager is shutting down");
    }
  }

  private static SharedArena shared(MemoryArena arena) {
    return new SharedArena(arena.fd(), arena.bytes());
  }
}
