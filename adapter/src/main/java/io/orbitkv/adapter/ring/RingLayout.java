package io.orbitkv.adapter.ring;

/**
 * Where everything lies in the memory of one session's channel. All numbers are little-endian, all
 * offsets in bytes from its start. Each word that one side writes and the other polls has a cache
 * line pair of its own.
 *
 * <pre>
 *         0  u32 magic "OKVR"   4  u32 layout version   8  16 bytes Manager epoch   24  u64 session
 *      1024  requests: tail  u64, written by the engine
 *      1152  requests: head  u64, written by the Manager
 *      1280  requests: sleeping  u32, written by the Manager
 *      1408  requests: full  u32, written by the engine
 *      2048  answers: tail  u64, written by the Manager
 *      2176  answers: head  u64, written by the engine
 *      2304  answers: sleeping  u32, written by the engine
 *      2432  answers: full  u32, written by the Manager
 *      4096  requests: 1,024 entries of 64 bytes
 *     69632  answers: 1,024 entries of 64 bytes
 *    135168  descriptor arena of the requests, 8 MiB
 *   8523776  descriptor arena of the answers, 8 MiB
 *  16912384  end
 * </pre>
 *
 * <p>The header up to 1,024 informs people who look at a dump; no side reads it.
 */
public enum RingLayout {
  /** From the engine to the Manager. */
  REQUESTS(1024, 4096, 135_168),
  /** From the Manager to the engine. */
  ANSWERS(2048, 69_632, 8_523_776);

  /** Version of this layout. */
  public static final int VERSION = 1;

  /** First four bytes of the memory, "OKVR". */
  public static final int MAGIC = 0x52564b4f;

  /** Entries of either ring; a power of two. */
  public static final int ENTRIES = 1024;

  /** Bytes of either descriptor arena; a power of two. */
  public static final long ARENA_BYTES = 8L << 20;

  /** Largest descriptor: half of an arena, so that one always fits once the arena is empty. */
  public static final long DESCRIPTOR_BYTES = ARENA_BYTES / 2;

  /** Bytes of the whole. */
  public static final long BYTES = 16_912_384;

  /** A descriptor begins at a multiple of so many bytes. */
  public static final long DESCRIPTOR_ALIGNMENT = 64;

  private static final long HEAD = 128;
  private static final long SLEEPING = 256;
  private static final long FULL = 384;

  private final long words;
  private final long entries;
  private final long arena;

  RingLayout(long words, long entries, long arena) {
    this.words = words;
    this.entries = entries;
    this.arena = arena;
  }

  /** Where the producer says how many commands it ever wrote, u64. */
  public long tail() {
    return words;
  }

  /** Where the consumer says how many commands it ever took out, u64. */
  public long head() {
    return words + HEAD;
  }

  /** Where the consumer says 1 while it wants its event for a new command, u32. */
  public long sleeping() {
    return words + SLEEPING;
  }

  /** Where the producer says 1 while it wants its event for room that was given back, u32. */
  public long full() {
    return words + FULL;
  }

  /** Where the entry of a command lies, by its number. */
  public long entry(long number) {
    return entries + (number & (ENTRIES - 1)) * 64;
  }

  /** Where the descriptor arena begins. */
  public long arena() {
    return arena;
  }
}
