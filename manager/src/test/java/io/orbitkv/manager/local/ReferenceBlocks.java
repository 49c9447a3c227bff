package io.orbitkv.manager.local;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.Protection;
import io.orbitkv.manager.plan.PlanPins;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A small true service over one arena: blocks are laid one behind the other and never evicted. Can
 * hold publishes at a gate and reads for ever, as the tests need.
 */
final class ReferenceBlocks implements BlockService, AutoCloseable {
  private record Stored(long offset, long bytes) {}

  private final Fd memfd;
  private final Mapping mapping;
  private final Map<BlockName, Stored> stored = new HashMap<>();
  private final Map<Long, Map<Long, List<BlockName>>> leases = new HashMap<>();
  private final List<Long> exited = new ArrayList<>();
  private final List<CompletableFuture<LeasedRead>> heldReads = new ArrayList<>();
  private final AtomicInteger asking = new AtomicInteger();
  private final AtomicInteger publishing = new AtomicInteger();
  private long used;
  private long nextLease = 1;
  private boolean holdReads;
  private long leaseNanos = TimeUnit.SECONDS.toNanos(60);
  private @Nullable CountDownLatch gate;
  private @Nullable CountDownLatch statusGate;

  ReferenceBlocks(long bytes) {
    memfd = Memfd.create("orbitkv-test-arena", bytes);
    mapping = Mapping.map(memfd, 0, bytes, Protection.READ_WRITE, false);
    Memfd.addSeals(memfd, Memfd.F_SEAL_SHRINK | Memfd.F_SEAL_GROW | Memfd.F_SEAL_FUTURE_WRITE);
  }

  @Override
  public List<SharedArena> arenas() {
    return List.of(new SharedArena(memfd.number(), mapping.bytes()));
  }

  @Override
  public Published publish(BlockName name, MemorySegment source, boolean digest) {
    CountDownLatch closed = gate();
    if (closed != null) {
      publishing.incrementAndGet();
      try {
        closed.await();
      } catch (InterruptedException e) {
        throw new TransportException(FaultCode.CANCELLED, "interrupted", e);
      }
    }
    synchronized (this) {
      if (stored.containsKey(name)) {
        return Published.PRESENT;
      }
      if (source.byteSize() > mapping.bytes() - used) {
        throw new TransportException(
            FaultCode.EXHAUSTED, "block " + name + ": no room for " + source.byteSize() + " bytes");
      }
      MemorySegment.copy(source, 0, mapping.segment(), used, source.byteSize());
      stored.put(name, new Stored(used, source.byteSize()));
      used += source.byteSize();
      return Published.STORED;
    }
  }

  @Override
  public synchronized CompletableFuture<LeasedRead> read(
      long holder, List<BlockName> names, ReadOptions options) {
    if (holdReads) {
      CompletableFuture<LeasedRead> held = new CompletableFuture<>();
      heldReads.add(held);
      return held;
    }
    return CompletableFuture.completedFuture(lease(holder, names, options));
  }

  private LeasedRead lease(long holder, List<BlockName> names, ReadOptions options) {
    List<LeasedBlock> blocks = new ArrayList<>();
    List<BlockName> found = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      Stored block = stored.get(names.get(i));
      if (block != null) {
        Origin origin = options.fetch() && i % 2 == 1 ? Origin.PEER : Origin.LOCAL;
        blocks.add(new LeasedBlock(i, origin, 0, block.offset, block.bytes, 1));
        found.add(names.get(i));
      } else if (options.prefix()) {
        break;
      }
    }
    if (blocks.isEmpty()) {
      return new LeasedRead(0, 0, List.of());
    }
    long lease = nextLease++;
    leases.computeIfAbsent(holder, _ -> new HashMap<>()).put(lease, found);
    return new LeasedRead(lease, System.nanoTime() + leaseNanos, blocks);
  }

  @Override
  public synchronized void release(long holder, long lease) {
    Map<Long, List<BlockName>> held = leases.get(holder);
    if (held == null || held.remove(lease) == null) {
      throw new TransportException(FaultCode.NOT_FOUND, "no lease " + lease);
    }
  }

  /** All blocks have generation 1 here, so a plan lists the first blocks of its lease. */
  @Override
  public synchronized PlanPins pin(long holder, long lease, List<Long> generations, String plan) {
    Map<Long, List<BlockName>> held = leases.get(holder);
    List<BlockName> names = held == null ? null : held.get(lease);
    if (names == null || names.size() < generations.size()) {
      throw new TransportException(FaultCode.NOT_FOUND, "no lease " + lease);
    }
    release(holder, lease);
    List<PlanPins.Pinned> pinned = new ArrayList<>();
    for (int i = 0; i < generations.size(); i++) {
      Stored block = Objects.requireNonNull(stored.get(names.get(i)));
      pinned.add(new PlanPins.Pinned(0, block.offset, block.bytes, 1));
    }
    return new PlanPins() {
      @Override
      public List<Pinned> blocks() {
        return List.copyOf(pinned);
      }

      @Override
      public void keepFirst(int count) {
        pinned.subList(count, pinned.size()).clear();
      }

      @Override
      public void release() {}

      @Override
      public void quarantine() {}
    };
  }

  @Override
  public List<LeasedBlock> candidates(List<BlockName> names, boolean prefix) {
    return List.of();
  }

  @Override
  public synchronized void processExited(long holder) {
    exited.add(holder);
    leases.remove(holder);
  }

  @Override
  public String statusJson() {
    CountDownLatch closed = statusGate();
    if (closed != null) {
      asking.incrementAndGet();
      try {
        closed.await();
      } catch (InterruptedException e) {
        throw new TransportException(FaultCode.CANCELLED, "interrupted", e);
      }
    }
    return "{\"reference\":true}";
  }

  /** The leases that are held now, of all holders. */
  synchronized int leases() {
    return leases.values().stream().mapToInt(Map::size).sum();
  }

  /** The holders whose process has exited, as often as it was told. */
  synchronized List<Long> exited() {
    return List.copyOf(exited);
  }

  synchronized void leaseNanos(long nanos) {
    leaseNanos = nanos;
  }

  /** From now on publishes wait until the latch is counted down. */
  synchronized void gate(@Nullable CountDownLatch newGate) {
    gate = newGate;
  }

  /** How many publishes have come to a gate. */
  int publishing() {
    return publishing.get();
  }

  /** From now on the state is told only once the latch is counted down. */
  synchronized void statusGate(@Nullable CountDownLatch newGate) {
    statusGate = newGate;
  }

  /** How many who ask for the state have come to its gate. */
  int asking() {
    return asking.get();
  }

  private synchronized @Nullable CountDownLatch statusGate() {
    return statusGate;
  }

  private synchronized @Nullable CountDownLatch gate() {
    return gate;
  }

  /** From now on reads are answered by {@link #answerReads} only. */
  synchronized void holdReads() {
    holdReads = true;
  }

  /** How many leases there have been. */
  synchronized long leasesGiven() {
    return nextLease - 1;
  }

  synchronized int heldReads() {
    return heldReads.size();
  }

  /** Answers what is held, as one holder's, each with a lease on those names. */
  void answerReads(long holder, List<BlockName> names) {
    List<CompletableFuture<LeasedRead>> answered;
    List<LeasedRead> reads = new ArrayList<>();
    synchronized (this) {
      holdReads = false;
      answered = List.copyOf(heldReads);
      heldReads.clear();
      for (int i = 0; i < answered.size(); i++) {
        reads.add(lease(holder, names, new ReadOptions(false, false, 0)));
      }
    }
    for (int i = 0; i < answered.size(); i++) {
      answered.get(i).complete(reads.get(i));
    }
  }

  @Override
  public void close() {
    mapping.close();
    memfd.close();
  }
}
