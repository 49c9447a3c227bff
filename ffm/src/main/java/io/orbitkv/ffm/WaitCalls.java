package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Calls that wait, wake or order. Each returns the result, or the negated error number. */
final class WaitCalls {
  // linux/eventfd.h
  static final int EFD_CLOEXEC = 02000000;
  static final int EFD_NONBLOCK = 04000;
  // linux/futex.h; without FUTEX_PRIVATE_FLAG, because the words are shared between processes
  private static final int FUTEX_WAIT = 0;
  private static final int FUTEX_WAKE = 1;

  private static final Abi ABI = Abi.current();
  private static final int EVENT_BYTES = 8;

  private static final MethodHandle PPOLL =
      Downcall.bind("ppoll", JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS);
  private static final MethodHandle EVENTFD =
      Downcall.bind("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
  // Not critical: a peer can clear O_NONBLOCK on an eventfd that it shares, and so block the call.
  private static final MethodHandle READ =
      Downcall.bind("read", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle WRITE =
      Downcall.bind("write", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle FUTEX =
      Downcall.bindVariadic(
          "syscall", 1, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS,
          JAVA_INT);
  private static final MethodHandle SYSCALL_INTS =
      Downcall.bindVariadic("syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle SCHED_YIELD = Downcall.bindCritical("sched_yield", JAVA_INT);

  private WaitCalls() {}

  /** One ppoll; EINTR is the caller's, who knows the time that is left. */
  static int ppoll(MemorySegment descriptors, long count, MemorySegment timeout) {
    CallState own = CallState.own();
    try {
      return own.orErrno(
          (int) PPOLL.invokeExact(own.capture, descriptors, count, timeout, MemorySegment.NULL));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int eventfd(int flags) {
    CallState own = CallState.own();
    try {
      return own.orErrno((int) EVENTFD.invokeExact(own.capture, 0, flags));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  /** Reads a 64-bit count into the thread's own words. */
  static long readEvents(int fd) {
    CallState own = CallState.own();
    long result;
    do {
      try {
        result =
            own.orErrno((long) READ.invokeExact(own.capture, fd, own.words, (long) EVENT_BYTES));
      } catch (Throwable t) {
        throw Downcall.rethrow(t);
      }
    } while (result == -Errno.EINTR);
    return result < 0 ? result : own.words.get(JAVA_LONG, 0);
  }

  static long writeEvents(int fd, long count) {
    CallState own = CallState.own();
    long result;
    own.words.set(JAVA_LONG, 0, count);
    do {
      try {
        result =
            own.orErrno((long) WRITE.invokeExact(own.capture, fd, own.words, (long) EVENT_BYTES));
      } catch (Throwable t) {
        throw Downcall.rethrow(t);
      }
    } while (result == -Errno.EINTR);
    return result;
  }

  static long futexWait(MemorySegment word, int expected, MemorySegment timeout) {
    return futex(word, FUTEX_WAIT, expected, timeout);
  }

  static long futexWake(MemorySegment word, int count) {
    return futex(word, FUTEX_WAKE, count, MemorySegment.NULL);
  }

  static long pidfdOpen(int pid) {
    return syscall(ABI.pidfdOpen(), pid, 0, 0);
  }

  static long membarrier(int command) {
    return syscall(ABI.membarrier(), command, 0, 0);
  }

  static void schedYield() {
    CallState own = CallState.own();
    try {
      int _ = (int) SCHED_YIELD.invokeExact(own.capture);
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static long futex(MemorySegment word, int operation, int value, MemorySegment timeout) {
    CallState own = CallState.own();
    try {
      return own.orErrno(
          (long)
              FUTEX.invokeExact(
                  own.capture,
                  ABI.futex(),
                  word,
                  operation,
                  value,
                  timeout,
                  MemorySegment.NULL,
                  0));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static long syscall(long number, int first, int second, int third) {
    CallState own = CallState.own();
    try {
      return own.orErrno(
          (long) SYSCALL_INTS.invokeExact(own.capture, number, first, second, third));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }
}
