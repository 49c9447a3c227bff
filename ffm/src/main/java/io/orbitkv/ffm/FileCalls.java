package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Calls on any descriptor. Each returns the result, or the negated error number. */
final class FileCalls {
  // linux/fcntl.h, asm-generic/fcntl.h
  static final int F_GETFL = 3;
  static final int F_SETFL = 4;
  static final int F_DUPFD_CLOEXEC = 1030;
  static final int F_ADD_SEALS = 1033;
  static final int F_GET_SEALS = 1034;
  static final int O_NONBLOCK = 04000;
  private static final int O_CLOEXEC = 02000000;
  private static final int AT_EMPTY_PATH = 0x1000;
  // linux/stat.h: the mask of stx_size, its offset, and the size of struct statx
  private static final int STATX_SIZE = 0x200;
  private static final int STX_SIZE_OFFSET = 40;
  private static final int STATX_BYTES = 256;
  // asm-generic/fcntl.h, flock
  private static final int LOCK_EX = 2;
  private static final int LOCK_NB = 4;

  private static final MethodHandle CLOSE = Downcall.bind("close", JAVA_INT, JAVA_INT);
  private static final MethodHandle FCNTL =
      Downcall.bindVariadic("fcntl", 2, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle OPEN =
      Downcall.bindVariadic("open", 2, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle FLOCK = Downcall.bind("flock", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle FCHMOD = Downcall.bind("fchmod", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle CHMOD = Downcall.bind("chmod", JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle STATX =
      Downcall.bind("statx", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);

  private FileCalls() {}

  static int close(int fd) {
    CallState own = CallState.own();
    try {
      return own.orErrno((int) CLOSE.invokeExact(own.capture, fd));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int fcntl(int fd, int command, int argument) {
    CallState own = CallState.own();
    try {
      return own.orErrno((int) FCNTL.invokeExact(own.capture, fd, command, argument));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  /** Opens for reading. */
  static int open(String path) {
    CallState own = CallState.own();
    try (Arena arena = Arena.ofConfined()) {
      return own.orErrno(
          (int) OPEN.invokeExact(own.capture, arena.allocateFrom(path), O_CLOEXEC, 0));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  /** Takes the exclusive lock of the open file; EAGAIN if another holds it. */
  static int tryLock(int fd) {
    CallState own = CallState.own();
    try {
      return own.orErrno((int) FLOCK.invokeExact(own.capture, fd, LOCK_EX | LOCK_NB));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int fchmod(int fd, int mode) {
    CallState own = CallState.own();
    try {
      return own.orErrno((int) FCHMOD.invokeExact(own.capture, fd, mode));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int chmod(String path, int mode) {
    CallState own = CallState.own();
    try (Arena arena = Arena.ofConfined()) {
      return own.orErrno((int) CHMOD.invokeExact(own.capture, arena.allocateFrom(path), mode));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  /** The size of the open file in bytes. statx, because struct stat differs between machines. */
  static long size(int fd) {
    CallState own = CallState.own();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment status = arena.allocate(STATX_BYTES, 8);
      int result =
          own.orErrno(
              (int)
                  STATX.invokeExact(
                      own.capture, fd, arena.allocateFrom(""), AT_EMPTY_PATH, STATX_SIZE, status));
      return result < 0 ? result : status.get(JAVA_LONG, STX_SIZE_OFFSET);
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }
}
