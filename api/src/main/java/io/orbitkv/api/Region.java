package io.orbitkv.api;

import java.lang.foreign.MemorySegment;

/**
 * What a registration covers: a value that names memory, and says what a provider may do with it
 * and who keeps it alive.
 *
 * @param id its name
 * @param fd the memfd behind it, so that another process or sendfile can use it; -1 if there is
 *     none. Not the provider's to close
 * @param fdOffset where in that file the region begins, bytes
 * @param memory the mapped bytes; for a device region a zero-length-safe segment that carries
 *     address and length and must not be dereferenced on the host
 * @param kind host or device
 * @param permission what the provider may do
 * @param backing who keeps the memory alive
 */
public record Region(
    RegionId id,
    int fd,
    long fdOffset,
    MemorySegment memory,
    MemoryKind kind,
    Permission permission,
    Backing backing) {
  /** Who keeps the memory of a region alive while it is registered. */
  public enum Backing {
    /** The provider does, until its registration is closed. */
    OWNED,
    /** The caller does, until its registration is closed. */
    BORROWED
  }

  /** Checks the file position. */
  public Region {
    if (fd < -1 || fdOffset < 0 || (fd == -1 && fdOffset != 0)) {
      throw new IllegalArgumentException(
          "region " + id + ": file descriptor " + fd + " at offset " + fdOffset);
    }
    if (memory.byteSize() == 0) {
      throw new IllegalArgumentException("region " + id + " is empty");
    }
  }

  /** Length in bytes. */
  public long length() {
    return memory.byteSize();
  }
}
