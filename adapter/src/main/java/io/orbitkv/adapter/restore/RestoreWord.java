package io.orbitkv.adapter.restore;

/**
 * The layout of the Manager's word and of an engine's word, 64 bits in the processor's order.
 *
 * <pre>
 *  63                                                      8 7        0
 * +---------------------------------------------------------+----------+
 * | generation of the record, 1 to 2^56-1                    | state    |
 * +---------------------------------------------------------+----------+
 * </pre>
 *
 * Memory that nobody has written is 0: generation 0, which no record has, so it reads as NONE. The
 * two words have no state code in common, so that one is never taken for the other.
 */
public final class RestoreWord {
  /** The highest generation that a word can carry. */
  public static final long MAX_GENERATION = (1L << 56) - 1;

  private static final int STATE_BITS = 8;
  private static final long STATE_MASK = (1L << STATE_BITS) - 1;

  private RestoreWord() {}

  /** The generation that a word is tagged with, 0 to {@link #MAX_GENERATION}. */
  public static long generation(long word) {
    return word >>> STATE_BITS;
  }

  /**
   * Checks a record's generation.
   *
   * @return the generation
   * @throws IllegalArgumentException if it is not 1 to {@link #MAX_GENERATION}
   */
  public static long requireGeneration(long generation) {
    if (generation < 1 || generation > MAX_GENERATION) {
      throw new IllegalArgumentException(
          "restore record: generation " + generation + " is not 1 to " + MAX_GENERATION);
    }
    return generation;
  }

  static int code(long word) {
    return (int) (word & STATE_MASK);
  }

  static long encode(long generation, int code) {
    return requireGeneration(generation) << STATE_BITS | code;
  }
}
