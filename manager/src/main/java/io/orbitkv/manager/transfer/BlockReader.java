package io.orbitkv.manager.transfer;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.manager.catalog.Catalog;
import io.orbitkv.manager.catalog.LeaseTable;
import io.orbitkv.manager.local.BlockService.LeasedBlock;
import io.orbitkv.manager.local.BlockService.LeasedRead;
import io.orbitkv.manager.local.BlockService.Origin;
import io.orbitkv.manager.local.BlockService.ReadOptions;
import io.orbitkv.manager.memory.Allocation;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.Pool;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the reads of engines: what is local at once, the rest after it was fetched from peers
 * into this Manager's memory. Thread-safe.
 */
public final class BlockReader implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BlockReader.class);

  private final FetchContext context;
  private final LeaseTable leases;
  private final RemotePeers peers;
  private final InFlightNames inFlight = new InFlightNames();
  private final LongAdder localBlocks = new LongAdder();
  private final LongAdder peerBlocks = new LongAdder();
  private final LongAdder peerBytes = new LongAdder();
  private final LongAdder missedBlocks = new LongAdder();
  private final Fetching fetching =
      new Fetching(new OwnerHints(), new QuietTimer("orbitkv-fetch-deadline"));
  private final Set<FetchOperation> running = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * What the fetches of a Manager share.
   *
   * @param timer of their deadlines and pauses
   */
  record Fetching(OwnerHints hints, QuietTimer timer) {}

  /**
   * A reader over one transport.
   *
   * @param transportEpoch of this Manager's transport
   */
  public BlockReader(
      Pool pool,
      Catalog catalog,
      LeaseTable leases,
      Tickets tickets,
      TransferLimits limits,
      DigestChecks digests,
      RemotePeers peers,
      Epoch transportEpoch) {
    this.context =
        new FetchContext(pool, catalog, tickets, limits, digests, new FetchTimes(), transportEpoch);
    this.leases = leases;
    this.peers = peers;
  }

  /** As {@link io.orbitkv.manager.local.BlockService#read}. */
  public CompletableFuture<LeasedRead> read(
      long holder, List<BlockName> names, ReadOptions options) {
    FetchOperation operation =
        new FetchOperation(
            context, inFlight, names, options, "session " + Long.toHexString(holder));
    List<RemotePeers.RemotePeer> up = options.fetch() ? peers.up() : List.of();
    leases.begin(holder);
    if (takeLocal(operation) || up.isEmpty()) {
      return CompletableFuture.completedFuture(answer(holder, names.size(), operation));
    }
    CompletableFuture<LeasedRead> answered = new CompletableFuture<>();
    running.add(operation);
    operation.fetch(
        up,
        fetching,
        () -> {
          running.remove(operation);
          try {
            answered.complete(answer(holder, names.size(), operation));
          } catch (RuntimeException | Error e) {
            answered.completeExceptionally(e);
          }
        });
    if (closed) {
      // This Manager is on its way down: what has come is all that there is.
      operation.stop();
    }
    return answered;
  }

  /** Blocks that were here when they were asked for. */
  public long localBlocks() {
    return localBlocks.sum();
  }

  /** Blocks that were fetched from a peer for a read. */
  public long peerBlocks() {
    return peerBlocks.sum();
  }

  /** Bytes of {@link #peerBlocks()}. */
  public long peerBytes() {
    return peerBytes.sum();
  }

  /** How long the last fetches took. */
  public FetchTimes fetchTimes() {
    return context.times();
  }

  /** Blocks that were asked for, of peers too, and not found. */
  public long missedBlocks() {
    return missedBlocks.sum();
  }

  /** Ends the operations that run: they are answered with what they have. */
  @Override
  public void close() {
    closed = true;
    running.forEach(FetchOperation::stop);
    fetching.timer().shutdownNow();
  }

  private static boolean takeLocal(FetchOperation operation) {
    try {
      return operation.takeLocal();
    } catch (RuntimeException | Error e) {
      LOG.error("a look into the catalog failed", e);
      return true;
    }
  }

  private LeasedRead answer(long holder, int asked, FetchOperation operation) {
    try {
      List<FetchOperation.Found> found = operation.answer();
      if (operation.fetches()) {
        missedBlocks.add(asked - (long) found.size());
      }
      if (found.isEmpty()) {
        return new LeasedRead(0, 0, List.of());
      }
      List<Hold> holds = found.stream().map(FetchOperation.Found::hold).distinct().toList();
      return leases
          .grant(holder, holds)
          .map(lease -> leased(lease, found))
          .orElseGet(() -> new LeasedRead(0, 0, List.of()));
    } finally {
      leases.end(holder);
    }
  }

  private LeasedRead leased(LeaseTable.Granted lease, List<FetchOperation.Found> found) {
    return new LeasedRead(
        lease.id(), lease.expiresAtNanos(), found.stream().map(this::leased).toList());
  }

  private LeasedBlock leased(FetchOperation.Found found) {
    Allocation allocation = found.hold().allocation();
    if (found.origin() == Origin.PEER) {
      peerBlocks.increment();
      peerBytes.add(allocation.bytes());
    } else {
      localBlocks.increment();
    }
    return new LeasedBlock(
        found.index(),
        found.origin(),
        allocation.arena().index(),
        allocation.offset(),
        allocation.bytes(),
        allocation.generation());
  }
}
