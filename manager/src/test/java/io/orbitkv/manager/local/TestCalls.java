package io.orbitkv.manager.local;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** Calls that only a test makes. Each returns the result, or the negated error number. */
@SuppressWarnings("restricted")
final class TestCalls {
  static final int O_RDWR = 2;
  static final int PROT_READ = 1;
  static final int PROT_WRITE = 2;
  static final int FALLOC_KEEP_SIZE = 1;
  static final int FALLOC_PUNCH_HOLE = 2;
  static final int MADV_REMOVE = 9;
  private static final int EX_SIGNALED = 128;
  private static final int RLIMIT_NOFILE = 7;

  /** The same on every processor. */
  private static final long SYS_PIDFD_GETFD = 438;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
  private static final MethodHandle FORK = plain("fork", FunctionDescriptor.of(JAVA_INT));
  private static final MethodHandle EXIT = plain("_exit", FunctionDescriptor.ofVoid(JAVA_INT));
  private static final MethodHandle WAITPID =
      plain("waitpid", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle FALLOCATE =
      captured(
          "fallocate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle FTRUNCATE =
      captured("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
  private static final MethodHandle PWRITE =
      captured("pwrite", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle OPEN =
      captured("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle MPROTECT =
      captured("mprotect", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
  private static final MethodHandle GETRLIMIT =
      captured("getrlimit", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
  private static final MethodHandle SETRLIMIT =
      captured("setrlimit", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
  private static final MethodHandle MADVISE =
      captured("madvise", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));

  private static final MethodHandle PIDFD_GETFD =
      LINKER.downcallHandle(
          LINKER.defaultLookup().find("syscall").orElseThrow(),
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT),
          Linker.Option.firstVariadicArg(1),
          Linker.Option.captureCallState("errno"));

  private TestCalls() {}

  private static MethodHandle plain(String name, FunctionDescriptor type) {
    return LINKER.downcallHandle(LINKER.defaultLookup().find(name).orElseThrow(), type);
  }

  private static MethodHandle captured(String name, FunctionDescriptor type) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().find(name).orElseThrow(),
        type,
        Linker.Option.captureCallState("errno"));
  }

  private static long orErrno(MemorySegment state, long result) {
    return result < 0 ? -(int) ERRNO.get(state, 0L) : result;
  }

  /** Makes a child with this thread alone; 0 in it. */
  static int fork() throws Throwable {
    return (int) FORK.invokeExact();
  }

  /** Ends this process without a word. */
  static void exit(int code) throws Throwable {
    EXIT.invokeExact(code);
  }

  /** Waits for a child; its exit code, or 128 and the signal that ended it. */
  static int await(int child) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment status = arena.allocate(JAVA_INT);
      if ((int) WAITPID.invokeExact(child, status, 0) != child) {
        throw new AssertionError("waitpid");
      }
      int value = status.get(JAVA_INT, 0);
      int signal = value & 0x7f;
      return signal != 0 ? EX_SIGNALED + signal : (value >> 8) & 0xff;
    }
  }

  static long fallocate(int fd, int mode, long offset, long bytes) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      return orErrno(state, (int) FALLOCATE.invokeExact(state, fd, mode, offset, bytes));
    }
  }

  static long ftruncate(int fd, long bytes) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      return orErrno(state, (int) FTRUNCATE.invokeExact(state, fd, bytes));
    }
  }

  /** Writes zeroes at the start. */
  static long write(int fd, long bytes) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      return orErrno(state, (long) PWRITE.invokeExact(state, fd, arena.allocate(bytes), bytes, 0L));
    }
  }

  static long open(String path, int flags) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      return orErrno(state, (int) OPEN.invokeExact(state, arena.allocateFrom(path), flags));
    }
  }

  /** A copy here of a descriptor of another process. */
  static long copyOf(int pidFd, int theirs) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      return orErrno(
          state, (long) PIDFD_GETFD.invokeExact(state, SYS_PIDFD_GETFD, pidFd, theirs, 0));
    }
  }

  static long protect(MemorySegment range, int protection) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      return orErrno(state, (int) MPROTECT.invokeExact(state, range, range.byteSize(), protection));
    }
  }

  static long advise(MemorySegment range, int advice) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      return orErrno(state, (int) MADVISE.invokeExact(state, range, range.byteSize(), advice));
    }
  }

  /** Sets how many descriptors this process may have; the number before. */
  static long limitDescriptors(long most) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      MemorySegment limit = arena.allocate(JAVA_LONG, 2); // struct rlimit: soft, hard
      if ((int) GETRLIMIT.invokeExact(state, RLIMIT_NOFILE, limit) != 0) {
        throw new AssertionError("getrlimit");
      }
      long before = limit.get(JAVA_LONG, 0);
      limit.set(JAVA_LONG, 0, most);
      if ((int) SETRLIMIT.invokeExact(state, RLIMIT_NOFILE, limit) != 0) {
        throw new AssertionError("setrlimit");
      }
      return before;
    }
  }
}
