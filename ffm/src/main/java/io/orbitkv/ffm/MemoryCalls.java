package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Calls about memory. Each returns the result, or the negated error number. */
final class MemoryCalls {
  // linux/memfd.h
  static final int MFD_CLOEXEC = 1;
  static final int MFD_ALLOW_SEALING = 2;
  // asm-generic/mman-common.h, linux/mman.h
  static final int PROT_READ = 1;
  static final int PROT_WRITE = 2;
  static final int MAP_SHARED = 1;
  static final int MAP_POPULATE = 0x8000;
  private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
  private static final int MAP_NORESERVE = 0x4000;
  private static final int MAP_FIXED = 0x10;
  private static final int PROT_NONE = 0;
  static final int MADV_DONTFORK = 10;
  static final int MADV_HUGEPAGE = 14;
  static final int MADV_WIPEONFORK = 18;
  static final int MADV_POPULATE_READ = 22;
  static final int MADV_POPULATE_WRITE = 23;
  static final int MADV_COLLAPSE = 25;
  // asm-generic/resource.h
  private static final int RLIMIT_MEMLOCK = 8;
  // bits/confname.h
  private static final int SC_PAGESIZE = 30;

  private static final MethodHandle MEMFD_CREATE =
      Downcall.bind("memfd_create", JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle FTRUNCATE =
      Downcall.bind("ftruncate", JAVA_INT, JAVA_INT, JAVA_LONG);
  private static final MethodHandle MMAP =
      Downcall.bind(
          "mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
  private static final MethodHandle MUNMAP =
      Downcall.bind("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle MLOCK = Downcall.bind("mlock", JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle MADVISE =
      Downcall.bind("madvise", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
  private static final MethodHandle GETRLIMIT =
      Downcall.bind("getrlimit", JAVA_INT, JAVA_INT, ADDRESS);
  private static final MethodHandle SYSCONF = Downcall.bind("sysconf", JAVA_LONG, JAVA_INT);

  private MemoryCalls() {}

  static int memfdCreate(String name, int flags) {
    CallState own = CallState.own();
    try (Arena arena = Arena.ofConfined()) {
      return own.orErrno(
          (int) MEMFD_CREATE.invokeExact(own.capture, arena.allocateFrom(name), flags));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int ftruncate(int fd, long bytes) {
    CallState own = CallState.own();
    int result;
    do {
      try {
        result = own.orErrno((int) FTRUNCATE.invokeExact(own.capture, fd, bytes));
      } catch (Throwable t) {
        throw Downcall.rethrow(t);
      }
    } while (result == -Errno.EINTR);
    return result;
  }

  /** Maps shared at an address of the kernel's choice, which it returns. */
  static long mmapShared(long bytes, int protection, int flags, int fd, long offset) {
    return mmap(0, bytes, protection, MAP_SHARED | flags, fd, offset);
  }

  /**
   * As {@link #mmapShared}, at a multiple of {@code alignment}, a power of two and of pages; {@code
   * bytes} are whole pages.
   */
  static long mmapSharedAligned(long bytes, int protection, int fd, long offset, long alignment) {
    // What may not be mapped fails here: a failure over a reservation may have made a hole in it.
    long first = mmapShared(bytes, protection, 0, fd, offset);
    if (first < 0 || first % alignment == 0) {
      return first;
    }
    int _ = munmap(first, bytes);
    long reserved = bytes + alignment;
    long room = mmap(0, reserved, PROT_NONE, MAP_PRIVATE_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room < 0) {
      return room;
    }
    long address = (room + alignment - 1) & -alignment;
    long result = mmap(address, bytes, protection, MAP_SHARED | MAP_FIXED, fd, offset);
    if (address > room) {
      int _ = munmap(room, address - room);
    }
    if (address + bytes < room + reserved) {
      int _ = munmap(address + bytes, room + reserved - address - bytes);
    }
    return result;
  }

  /** Maps zeroes for this process alone, readable and writable; returns the address. */
  static long mmapAnonymous(long bytes) {
    return mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0);
  }

  private static long mmap(
      long address, long bytes, int protection, int flags, int fd, long offset) {
    CallState own = CallState.own();
    try {
      return own.orErrno(
          (long) MMAP.invokeExact(own.capture, address, bytes, protection, flags, fd, offset));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  /** Takes raw numbers: the segment over the range is closed before this, so that none is live. */
  static int munmap(long address, long bytes) {
    CallState own = CallState.own();
    try {
      return own.orErrno((int) MUNMAP.invokeExact(own.capture, address, bytes));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int mlock(MemorySegment range) {
    CallState own = CallState.own();
    try {
      return own.orErrno((int) MLOCK.invokeExact(own.capture, range, range.byteSize()));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int madvise(MemorySegment range, int advice) {
    CallState own = CallState.own();
    int result;
    do {
      try {
        result =
            own.orErrno((int) MADVISE.invokeExact(own.capture, range, range.byteSize(), advice));
      } catch (Throwable t) {
        throw Downcall.rethrow(t);
      }
    } while (result == -Errno.EINTR);
    return result;
  }

  /** The soft limit of locked memory in bytes; -1 is unlimited. */
  static long lockLimit() {
    CallState own = CallState.own();
    try {
      // struct rlimit: two 64-bit words, RLIM_INFINITY is all ones
      int result = own.orErrno((int) GETRLIMIT.invokeExact(own.capture, RLIMIT_MEMLOCK, own.words));
      if (result < 0) {
        throw new NativeException("getrlimit(RLIMIT_MEMLOCK)", -result);
      }
      return own.words.get(JAVA_LONG, 0);
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static long pageSize() {
    CallState own = CallState.own();
    try {
      return own.orErrno((long) SYSCONF.invokeExact(own.capture, SC_PAGESIZE));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }
}
