package io.orbitkv.manager.transfer;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.manager.memory.Allocation;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** How long does it take to make the batches of a grant of so many blocks? */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class DescriptorSplitBenchmark {
  private static final int BLOCK_BYTES = 4096;
  private static final TransferLimits LIMITS = new TransferLimits(1 << 20, 16_384, 8 << 20);

  /** Granted blocks of 4 KiB; 256 of them fill a batch. */
  @Param({"1", "1000"})
  public int blocks;

  private final Pool pool = new Pool(4096L * BLOCK_BYTES);
  private final List<Hold> holds = new ArrayList<>();
  private final List<Allocation> destination = new ArrayList<>();
  private RemoteRegion source = new Granted(1);

  private record Granted(int ranges) implements RemoteRegion {
    private static final GrantId GRANT = new GrantId(1, 1, Epoch.random());

    @Override
    public GrantId grant() {
      return GRANT;
    }

    @Override
    public long length(int range) {
      return BLOCK_BYTES;
    }
  }

  /** Takes the destination. */
  @Setup
  public void setUp() {
    source = new Granted(blocks);
    for (int i = 0; i < blocks; i++) {
      Hold hold = pool.reserve(BLOCK_BYTES, "benchmark").orElseThrow();
      holds.add(hold);
      destination.add(hold.allocation());
    }
  }

  /** Gives it back. */
  @TearDown
  public void tearDown() {
    for (Hold hold : holds) {
      pool.retire(hold.allocation());
      hold.end();
    }
    pool.close();
  }

  /** Makes the batches. */
  @Benchmark
  public List<?> plan() {
    TicketPlanner planner = new TicketPlanner(source, LIMITS);
    for (int i = 0; i < blocks; i++) {
      planner.add(destination.get(i), i, BLOCK_BYTES);
    }
    return planner.plan();
  }
}
