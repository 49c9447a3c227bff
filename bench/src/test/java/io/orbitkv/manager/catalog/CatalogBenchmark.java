package io.orbitkv.manager.catalog;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import io.orbitkv.manager.memory.Pool;
import java.nio.ByteBuffer;
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

/**
 * How long does it take to find a block by its name, to hold it, and to learn that it is absent?
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CatalogBenchmark {
  private static final long BLOCK_BYTES = 4096;
  private static final int HASH_BYTES = 32;

  /** Blocks in the catalog. */
  @Param({"1000", "16000"})
  public int blocks;

  private final List<BlockName> present = new ArrayList<>();
  private final BlockName absent = name(-1);
  private Pool pool = new Pool(BLOCK_BYTES);
  private Catalog catalog = new Catalog(pool);
  private int next;

  private static BlockName name(int number) {
    return BlockName.of("model", ByteBuffer.allocate(HASH_BYTES).putInt(number).array());
  }

  /** Fills the catalog. */
  @Setup
  public void setUp() {
    pool.close();
    pool = new Pool(BLOCK_BYTES * blocks);
    catalog = new Catalog(pool);
    for (int i = 0; i < blocks; i++) {
      present.add(name(i));
      catalog.seal(name(i), catalog.reserve(BLOCK_BYTES, "set-up"));
    }
  }

  /** Ends the pool. */
  @TearDown
  public void tearDown() {
    pool.close();
  }

  /** A look-up of a block that is there. */
  @Benchmark
  public long locate() {
    return catalog.locate(nextName());
  }

  /** The same, held and given back. */
  @Benchmark
  public void holdAndEnd() {
    Hold hold = catalog.hold(nextName(), HoldKind.LEASE, this).orElseThrow();
    hold.end();
  }

  /** A look-up of one that is not. */
  @Benchmark
  public long miss() {
    return catalog.locate(absent);
  }

  private BlockName nextName() {
    next = (next + 1) % blocks;
    return present.get(next);
  }
}
