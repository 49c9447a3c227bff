package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** Time left for a call that is repeated after a signal. A negative timeout waits for ever. */
record Deadline(boolean forever, long atNanos) {
  private static final long NANOS_PER_SECOND = 1_000_000_000L;
  static final int TIMESPEC_BYTES = 16;

  static Deadline after(long timeoutNanos) {
    return timeoutNanos < 0
        ? new Deadline(true, 0)
        : new Deadline(false, System.nanoTime() + timeoutNanos);
  }

  boolean passed() {
    return !forever && atNanos - System.nanoTime() <= 0;
  }

  /** Writes a struct timespec of the time left at an offset and returns it, or NULL for ever. */
  MemorySegment remaining(MemorySegment memory, long offset) {
    if (forever) {
      return MemorySegment.NULL;
    }
    long left = Math.max(0, atNanos - System.nanoTime());
    memory.set(JAVA_LONG, offset, left / NANOS_PER_SECOND);
    memory.set(JAVA_LONG, offset + 8, left % NANOS_PER_SECOND);
    return memory.asSlice(offset, TIMESPEC_BYTES);
  }
}
