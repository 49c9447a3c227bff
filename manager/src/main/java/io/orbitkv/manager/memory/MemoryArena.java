package io.orbitkv.manager.memory;

import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.Protection;
import java.lang.foreign.MemorySegment;

/**
 * One arena: a memfd-backed, populated, size-sealed mapping of the pool. This process maps it
 * writable; the seal F_SEAL_FUTURE_WRITE keeps every later mapping, an engine's, read-only for
 * ever. Owned by the {@link Pool}; ends when all its allocations are released and its registrations
 * are withdrawn.
 */
public final class MemoryArena {
  private final int index;
  private final RegionId id;
  private final Fd fd;
  private final Mapping mapping;
  private final long hugeBytes;

  private MemoryArena(int index, RegionId id, Fd fd, Mapping mapping, long hugeBytes) {
    this.index = index;
    this.id = id;
    this.fd = fd;
    this.mapping = mapping;
    this.hugeBytes = hugeBytes;
  }

  static MemoryArena create(int index, RegionId id, long bytes) {
    Fd fd = Memfd.create("orbitkv-arena-" + index, bytes);
    try {
      Mapping mapping = Mapping.map(fd, 0, bytes, Protection.READ_WRITE, false);
      try {
        long hugeBytes = mapping.populateHuge();
        mapping.dontFork();
        mapping.lock();
        Memfd.addSeals(
            fd,
            Memfd.F_SEAL_SHRINK
                | Memfd.F_SEAL_GROW
                | Memfd.F_SEAL_FUTURE_WRITE
                | Memfd.F_SEAL_SEAL);
        return new MemoryArena(index, id, fd, mapping, hugeBytes);
      } catch (RuntimeException e) {
        mapping.close();
        throw e;
      }
    } catch (RuntimeException e) {
      fd.close();
      throw e;
    }
  }

  /** Its position in the list that engines are told, from 0. */
  public int index() {
    return index;
  }

  /** Its name as a region. */
  public RegionId id() {
    return id;
  }

  /** The descriptor of its memfd; stays the arena's. */
  public int fd() {
    return fd.number();
  }

  /** Length in bytes. */
  public long bytes() {
    return mapping.bytes();
  }

  /** How much of it is known to be of huge pages, bytes. */
  long hugeBytes() {
    return hugeBytes;
  }

  /** All its bytes, writable. */
  public MemorySegment memory() {
    return mapping.segment();
  }

  /** What a provider registers: all of it, backed by this process. */
  public Region region() {
    return new Region(
        id,
        fd.number(),
        0,
        mapping.segment(),
        MemoryKind.HOST,
        Permission.READ_WRITE,
        Region.Backing.BORROWED);
  }

  void close() {
    mapping.close();
    fd.close();
  }
}
