package io.orbitkv.adapter.restore;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * A word of a mapping, read and written by single native accesses. Thread-safe. It does not own the
 * mapping; once that is closed each call throws {@link IllegalStateException}, and touches nothing.
 */
public final class MappedWord implements SharedWord {
  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

  private final MemorySegment word;

  /**
   * The word at an offset.
   *
   * @param memory native memory; if it is read-only, {@link #store} throws
   * @param offset in bytes
   * @throws IllegalArgumentException if the memory is not native, or the address not in eights
   * @throws IndexOutOfBoundsException if the word is not inside the memory
   */
  public MappedWord(MemorySegment memory, long offset) {
    word = memory.asSlice(offset, Long.BYTES);
    if (!word.isNative() || word.address() % Long.BYTES != 0) {
      throw new IllegalArgumentException(
          "word at offset " + offset + ": needs native memory and an address in eights");
    }
  }

  @Override
  public long load() {
    return (long) WORD.getAcquire(word, 0L);
  }

  @Override
  public void store(long value) {
    WORD.setRelease(word, 0L, value);
  }
}
