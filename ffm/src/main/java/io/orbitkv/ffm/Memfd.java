package io.orbitkv.ffm;

import java.nio.charset.StandardCharsets;

/**
 * Files that live in memory only, and their seals. Thread-safe; the caller owns the descriptors.
 */
public final class Memfd {
  // linux/fcntl.h
  /** No further seal can be added. */
  public static final int F_SEAL_SEAL = 1;

  /** The file can not become shorter, so a mapping of it never faults for its size. */
  public static final int F_SEAL_SHRINK = 2;

  /** The file can not become longer. */
  public static final int F_SEAL_GROW = 4;

  /** Nobody can write; refused with EBUSY while a writable mapping exists. */
  public static final int F_SEAL_WRITE = 8;

  /** No new writable mapping and no write; mappings that are writable already stay so. */
  public static final int F_SEAL_FUTURE_WRITE = 16;

  private static final int NAME_LIMIT = 249; // mm/memfd.c: NAME_MAX less its prefix

  private Memfd() {}

  /**
   * Creates a file of zeroes that can be sealed; close-on-exec.
   *
   * @param name shown in /proc only, at most 249 bytes
   * @param bytes its size, at least 1
   * @throws IllegalArgumentException if the name or the size is out of range
   * @throws NativeException if the kernel refuses
   */
  public static Fd create(String name, long bytes) {
    if (name.getBytes(StandardCharsets.UTF_8).length > NAME_LIMIT || name.indexOf('\0') >= 0) {
      throw new IllegalArgumentException(
          "memfd name: at most " + NAME_LIMIT + " bytes and no NUL; shorten it");
    }
    if (bytes < 1) {
      throw new IllegalArgumentException("memfd " + name + ": size " + bytes + " must be positive");
    }
    int flags = MemoryCalls.MFD_CLOEXEC | MemoryCalls.MFD_ALLOW_SEALING;
    Fd fd = Fd.adoptResult("memfd_create(" + name + ")", MemoryCalls.memfdCreate(name, flags));
    int result = MemoryCalls.ftruncate(fd.number(), bytes);
    if (result < 0) {
      fd.close();
      throw new NativeException("ftruncate(" + name + ", " + bytes + ")", -result);
    }
    return fd;
  }

  /**
   * Adds seals; they are of the file, for every process, and never come off.
   *
   * @throws NativeException EPERM if the seals are sealed, EBUSY for {@link #F_SEAL_WRITE} while a
   *     writable mapping exists, EINVAL if the file can not be sealed
   */
  public static void addSeals(Fd fd, int seals) {
    fcntl(fd, FileCalls.F_ADD_SEALS, "F_ADD_SEALS", seals);
  }

  /**
   * The seals of the file, including any that this class has no name for.
   *
   * @throws NativeException EINVAL if the file can not have seals
   */
  public static int seals(Fd fd) {
    return fcntl(fd, FileCalls.F_GET_SEALS, "F_GET_SEALS", 0);
  }

  /** The size of the file in bytes. */
  public static long size(Fd fd) {
    int number = fd.enter();
    try {
      long size = FileCalls.size(number);
      if (size < 0) {
        throw new NativeException("statx(" + fd + ")", (int) -size);
      }
      return size;
    } finally {
      fd.leave();
    }
  }

  private static int fcntl(Fd fd, int command, String name, int argument) {
    int number = fd.enter();
    try {
      int result = FileCalls.fcntl(number, command, argument);
      if (result < 0) {
        throw new NativeException("fcntl(" + fd + ", " + name + ", " + argument + ")", -result);
      }
      return result;
    } finally {
      fd.leave();
    }
  }
}
