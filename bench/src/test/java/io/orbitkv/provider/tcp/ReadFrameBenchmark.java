package io.orbitkv.provider.tcp;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.GrantId;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** How long does a READ's frame take to be written, and to be decoded and checked? */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ReadFrameBenchmark {
  private static final long BLOCK_BYTES = 4096;

  /** Scattered pieces in the READ. */
  @Param({"1", "64", "256"})
  public int pieces;

  private final MemorySegment frame = Arena.ofAuto().allocate(Wire.MAX_READ_BYTES);
  private final ReadFrame decoded = new ReadFrame();
  private final EntryList entries = new EntryList();
  private final GrantId grant = new GrantId(1, 1, Epoch.random());
  private final Token token = Token.random();
  private int frameBytes;

  /** Scatters the pieces. */
  @Setup
  public void setUp() {
    entries.clear();
    for (int i = 0; i < pieces; i++) {
      // No two differences are equal, so that nothing is joined or becomes a stride.
      entries.addPiece(0, BLOCK_BYTES * i * (i + 3), BLOCK_BYTES);
    }
    frameBytes = encode();
  }

  /** Writes it. */
  @Benchmark
  public int encode() {
    return ReadFrame.write(frame, 1, grant, token, pieces * BLOCK_BYTES, entries);
  }

  /** Decodes it, every number checked. */
  @Benchmark
  public long decode() throws ProtocolException {
    int length = ReadFrame.checkStart(frame, 0);
    decoded.decode(frame, 0, Math.min(length, frameBytes));
    return decoded.payloadBytes();
  }
}
