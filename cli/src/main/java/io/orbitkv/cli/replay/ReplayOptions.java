package io.orbitkv.cli.replay;

import java.nio.file.Path;
import java.time.Duration;

/**
 * How a trace is replayed. Immutable.
 *
 * @param speed 1 starts requests at their timestamps, 2 twice as fast; infinity does not wait
 * @param blockBytes length of every block, at least 1
 * @param namespace namespace of the blocks' names
 * @param seed of the blocks' bytes
 * @param deadline how long one query or publish may take
 * @param concurrency how many requests are under way at once, at least 1
 */
public record ReplayOptions(
    double speed,
    long blockBytes,
    String namespace,
    long seed,
    Duration deadline,
    int concurrency) {
  /** The value of {@code speed} that waits for nothing. */
  public static final double MAX_SPEED = Double.POSITIVE_INFINITY;

  private static final int MAX_TRACE_NAME = 40;

  /** Checks the bounds; {@link IllegalArgumentException} if one is left. */
  public ReplayOptions {
    if (!(speed > 0)) {
      throw new IllegalArgumentException("speed " + speed + " must be more than 0, or max");
    }
    if (blockBytes < 1) {
      throw new IllegalArgumentException("block length " + blockBytes + " must be at least 1 byte");
    }
    if (concurrency < 1) {
      throw new IllegalArgumentException("concurrency " + concurrency + " must be at least 1");
    }
  }

  /**
   * A namespace that keeps replays apart whose blocks differ under the same hashes: it names the
   * trace, the seed and the block length.
   */
  public static String namespaceFor(Path trace, long seed, long blockBytes) {
    String name = String.valueOf(trace.getFileName());
    String shortened = name.substring(0, Math.min(name.length(), MAX_TRACE_NAME));
    return "replay/" + shortened + "/" + Long.toHexString(seed) + "/" + blockBytes;
  }
}
