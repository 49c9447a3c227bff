package io.orbitkv.bench;

/**
 * What one operation of a measurement moves, and how many threads do so at once.
 *
 * @param blockBytes length of a block, bytes; a multiple of 8
 * @param batch blocks in one operation; fewer if a thread's share of the pool has not so many
 * @param strideBytes 0: blocks at random places of both pools, none twice; otherwise one strided
 *     descriptor on each side, its pieces so many bytes apart, a multiple of {@code blockBytes}
 * @param threads threads, each with one operation under way
 */
public record LoopShape(long blockBytes, int batch, long strideBytes, int threads) {
  /** The most blocks that one operation may have. */
  public static final int MAX_BATCH = 16_384;

  /** The most threads. */
  public static final int MAX_THREADS = 64;

  /** Checks the bounds; {@link IllegalArgumentException} if one is left. */
  public LoopShape {
    if (blockBytes < Pattern.WORD_BYTES || blockBytes % Pattern.WORD_BYTES != 0) {
      throw new IllegalArgumentException(
          "a block of " + blockBytes + " bytes; give a multiple of " + Pattern.WORD_BYTES);
    }
    if (batch < 1 || batch > MAX_BATCH) {
      throw new IllegalArgumentException("a batch of " + batch + " blocks; give 1 to " + MAX_BATCH);
    }
    if (threads < 1 || threads > MAX_THREADS) {
      throw new IllegalArgumentException(threads + " threads; give 1 to " + MAX_THREADS);
    }
    if (strideBytes < 0 || strideBytes % blockBytes != 0) {
      throw new IllegalArgumentException(
          "a stride of " + strideBytes + " bytes; give a multiple of the block's " + blockBytes);
    }
  }

  /** Blocks at random places. */
  public static LoopShape random(long blockBytes, int batch, int threads) {
    return new LoopShape(blockBytes, batch, 0, threads);
  }

  /** Whether both sides are strided. */
  public boolean strided() {
    return strideBytes > 0;
  }

  /**
   * Blocks in one operation, if the pools have so many bytes.
   *
   * @throws IllegalArgumentException if a thread's share has no room for a block
   */
  public int batchIn(long poolBytes) {
    long slots = slotsOfThread(poolBytes);
    if (slots < 1) {
      throw new IllegalArgumentException(
          "a pool of "
              + poolBytes
              + " bytes has no room for a block of "
              + blockBytes
              + " bytes for each of "
              + threads
              + " threads; give a larger one");
    }
    long most = strided() ? (slots - 1) / (strideBytes / blockBytes) + 1 : slots;
    return (int) Math.min(batch, most);
  }

  /** Places for a block in the share of the destination that a thread has for itself. */
  long slotsOfThread(long poolBytes) {
    return poolBytes / blockBytes / threads;
  }
}
