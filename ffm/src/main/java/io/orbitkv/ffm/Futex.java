package io.orbitkv.ffm;

import java.lang.foreign.MemorySegment;

/**
 * Sleeping on a 32-bit word of memory that may be shared with other processes. Thread-safe; the
 * word's memory stays mapped during a wait, because closing it then fails.
 */
public final class Futex {
  /** How a wait ended. None says anything about the word now: look again. */
  public enum Result {
    /** A wake, possibly one that was meant for an earlier wait. */
    WOKEN,
    /** The word did not hold the expected value, so there was no wait. */
    CHANGED,
    /** The time passed. */
    TIMED_OUT
  }

  private static final int WORD_BYTES = 4;

  private Futex() {}

  /**
   * Waits while the word holds a value.
   *
   * @param offset of the word in bytes; its address must be a multiple of 4
   * @param timeoutNanos negative waits for ever
   * @throws IllegalArgumentException if the word is not aligned or not native memory
   * @throws NativeException if the kernel refuses
   */
  public static Result await(MemorySegment memory, long offset, int expected, long timeoutNanos) {
    MemorySegment word = word(memory, offset);
    Deadline deadline = Deadline.after(timeoutNanos);
    MemorySegment words = CallState.own().words;
    while (true) {
      long result = WaitCalls.futexWait(word, expected, deadline.remaining(words, 0));
      if (result >= 0) {
        return Result.WOKEN;
      }
      if (result == -Errno.EAGAIN) {
        return Result.CHANGED;
      }
      if (result == -Errno.ETIMEDOUT) {
        return Result.TIMED_OUT;
      }
      if (result != -Errno.EINTR) {
        throw new NativeException("futex wait", (int) -result);
      }
    }
  }

  /**
   * Wakes threads that wait on the word, in any process.
   *
   * @param count the most to wake
   * @return how many were woken
   * @throws IllegalArgumentException if the word is not aligned or not native memory
   */
  public static int wake(MemorySegment memory, long offset, int count) {
    long result = WaitCalls.futexWake(word(memory, offset), count);
    if (result < 0) {
      throw new NativeException("futex wake", (int) -result);
    }
    return (int) result;
  }

  private static MemorySegment word(MemorySegment memory, long offset) {
    MemorySegment word = memory.asSlice(offset, WORD_BYTES);
    if (!word.isNative() || word.address() % WORD_BYTES != 0) {
      throw new IllegalArgumentException(
          "futex word at offset " + offset + ": needs native memory and an address in fours");
    }
    return word;
  }
}
