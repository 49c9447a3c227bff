package io.orbitkv.adapter.wire;

import io.orbitkv.adapter.BlockName;
import java.lang.foreign.MemorySegment;
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

/** How long do the names of a query take to be written by the engine, and read by the Manager? */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class NamesBenchmark {
  private static final int HASH_BYTES = 32;

  /** Names in the query. */
  @Param({"1", "256"})
  public int names;

  private final List<BlockName> asked = new ArrayList<>();
  private byte[] encoded = {};

  /** Makes the names. */
  @Setup
  public void setUp() {
    for (int i = 0; i < names; i++) {
      asked.add(BlockName.of("model", ByteBuffer.allocate(HASH_BYTES).putInt(i).array()));
    }
    encoded = Names.encode(asked);
  }

  /** Writes them. */
  @Benchmark
  public byte[] encode() {
    return Names.encode(asked);
  }

  /** Reads them, every length checked. */
  @Benchmark
  public List<BlockName> decode() {
    return Names.decode(new Cursor("query", MemorySegment.ofArray(encoded)));
  }
}
