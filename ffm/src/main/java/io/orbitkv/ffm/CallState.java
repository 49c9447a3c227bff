package io.orbitkv.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;

/**
 * What a thread needs for its calls: the segment that errno is captured in, and 32 bytes for small
 * arguments. Owned by one thread; freed by the collector after it.
 */
final class CallState {
  private static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      LAYOUT.varHandle(MemoryLayout.PathElement.groupElement("errno"));
  private static final ThreadLocal<CallState> OWN = ThreadLocal.withInitial(CallState::new);

  /** Passed first to every downcall. */
  final MemorySegment capture;

  /** Arguments of one leaf call; whoever writes them makes the call before anything else. */
  final MemorySegment words;

  private CallState() {
    Arena arena = Arena.ofAuto();
    capture = arena.allocate(LAYOUT);
    words = arena.allocate(32, 8);
  }

  static CallState own() {
    return OWN.get();
  }

  /** The result as the kernel gives it: the value, or the negated error number if it is -1. */
  long orErrno(long result) {
    return result == -1 ? -(int) ERRNO.get(capture, 0L) : result;
  }

  /** As {@link #orErrno(long)}. */
  int orErrno(int result) {
    return result == -1 ? -(int) ERRNO.get(capture, 0L) : result;
  }
}
