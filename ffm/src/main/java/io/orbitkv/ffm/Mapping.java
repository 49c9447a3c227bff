package io.orbitkv.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A shared mapping of a file, owned by its creator. Thread-safe.
 *
 * <p>Ends with {@link #close()}, which unmaps once. After that every use of {@link #segment()}
 * throws {@link IllegalStateException} instead of touching memory. The segment does not protect
 * against a device or another process: whoever closes needs evidence that those have stopped. A
 * file that another process can shrink makes loads fault: map files with {@link
 * Memfd#F_SEAL_SHRINK} only, when they come from elsewhere.
 */
public final class Mapping implements AutoCloseable {
  /** How much is made of huge pages, or present, by one call. */
  private static final long PIECE_BYTES = 32 << 20;

  private final Arena arena;
  private final MemorySegment range;
  private final MemorySegment segment;
  private final Protection protection;
  private volatile @Nullable String lockRefusal;

  private Mapping(Arena arena, MemorySegment range, Protection protection) {
    this.arena = arena;
    this.range = range;
    this.protection = protection;
    this.segment = protection == Protection.READ ? range.asReadOnly() : range;
  }

  /**
   * Maps a range of a file. The mapping does not need the descriptor afterwards. One that is large
   * enough lies so that huge pages of the file, if it has any, are mapped as such.
   *
   * @param offset start in the file, a multiple of the page size
   * @param bytes length, at least 1; the range must lie inside the file
   * @param populate whether every page is made present before this returns
   * @throws IllegalArgumentException if the range is not aligned or not inside the file
   * @throws NativeException EPERM if a seal or the descriptor forbids the protection, ENOMEM
   */
  public static Mapping map(
      Fd fd, long offset, long bytes, Protection protection, boolean populate) {
    check(fd, offset, bytes);
    int number = fd.enter();
    long address;
    try {
      long huge = HugePages.bytes();
      address =
          huge > 0 && bytes >= huge && offset % huge == 0
              ? MemoryCalls.mmapSharedAligned(
                  PageSize.roundUp(bytes), protection.bits, number, offset, huge)
              : MemoryCalls.mmapShared(bytes, protection.bits, 0, number, offset);
    } finally {
      fd.leave();
    }
    if (address < 0) {
      throw new NativeException(
          "mmap(" + fd + ", offset " + offset + ", " + bytes + " bytes, " + protection + ")",
          (int) -address);
    }
    Mapping mapping = over(address, bytes, protection);
    if (populate) {
      try {
        mapping.populate();
      } catch (NativeException e) {
        mapping.close();
        throw e;
      }
    }
    return mapping;
  }

  /** The mapped bytes; read-only for {@link Protection#READ}. Usable by any thread until closed. */
  public MemorySegment segment() {
    return segment;
  }

  /** The length in bytes, as asked for. */
  public long bytes() {
    return range.byteSize();
  }

  /**
   * Makes every page present, so that no later use can fail for want of memory. May take long.
   *
   * @throws NativeException if memory is short, or EINVAL on a kernel before 5.14
   */
  public void populate() {
    advise(populateAdvice(), "MADV_POPULATE");
  }

  /**
   * As {@link #populate()}, of a part.
   *
   * @param offset where it begins, a multiple of the page size
   * @throws IndexOutOfBoundsException if it is not inside
   */
  public void populate(long offset, long bytes) {
    int result = MemoryCalls.madvise(range.asSlice(offset, bytes), populateAdvice());
    if (result < 0) {
      throw failed("MADV_POPULATE", result);
    }
  }

  private int populateAdvice() {
    return protection == Protection.READ
        ? MemoryCalls.MADV_POPULATE_READ
        : MemoryCalls.MADV_POPULATE_WRITE;
  }

  /**
   * As {@link #populate()} of a writable mapping, with huge pages as far as they are to be had.
   * Other mappings of the file then have them too, without a page fault for each small page.
   *
   * @return how many bytes are known to be of huge pages, from the start; 0 on a kernel before 6.1
   * @throws NativeException if memory is short
   */
  public long populateHuge() {
    long huge = HugePages.bytes();
    long end = huge == 0 ? 0 : bytes() & -huge;
    long piece = Math.max(huge, PIECE_BYTES);
    long made = 0;
    if (range.address() % Math.max(1, huge) == 0 && adviseHugePages()) {
      while (made < end && collapse(made, Math.min(piece, end - made), huge)) {
        made += Math.min(piece, end - made);
      }
    }
    populate();
    return made;
  }

  /** Huge pages are made of what is present: one small page each is enough. */
  private boolean collapse(long offset, long bytes, long huge) {
    for (long at = offset; at < offset + bytes; at += huge) {
      MemorySegment page = range.asSlice(at, PageSize.bytes());
      if (MemoryCalls.madvise(page, MemoryCalls.MADV_POPULATE_WRITE) < 0) {
        return false;
      }
    }
    return MemoryCalls.madvise(range.asSlice(offset, bytes), MemoryCalls.MADV_COLLAPSE) >= 0;
  }

  /**
   * Locks the pages in memory. A limit that forbids it is an answer, not an error: the mapping is
   * as usable as before.
   *
   * @return whether it is locked; if not, {@link #lockRefusal()} says why
   */
  public boolean lock() {
    int result = MemoryCalls.mlock(range);
    if (result >= 0) {
      lockRefusal = null;
      return true;
    }
    long limit = MemoryCalls.lockLimit();
    lockRefusal =
        new NativeException(
                "mlock(" + bytes() + " bytes)",
                -result,
                "the limit of locked memory is "
                    + (limit == -1 ? "unlimited" : limit + " bytes")
                    + "; raise it with ulimit -l or LimitMEMLOCK=")
            .getMessage();
    return false;
  }

  /** Why the last {@link #lock()} was refused and what would fix it, in one line; null if not. */
  public @Nullable String lockRefusal() {
    return lockRefusal;
  }

  /**
   * Keeps the mapping out of child processes made by fork.
   *
   * @throws NativeException if the kernel refuses
   */
  public void dontFork() {
    advise(MemoryCalls.MADV_DONTFORK, "MADV_DONTFORK");
  }

  /**
   * Asks for huge pages; useful before {@link #populate()} only.
   *
   * @return false if this kernel was built without them
   */
  public boolean adviseHugePages() {
    int result = MemoryCalls.madvise(range, MemoryCalls.MADV_HUGEPAGE);
    if (result < 0 && result != -Errno.EINVAL) {
      throw failed("MADV_HUGEPAGE", result);
    }
    return result >= 0;
  }

  /**
   * Unmaps.
   *
   * @throws IllegalStateException if already closed, or while a call uses the segment; then it
   *     stays mapped and can be closed later
   */
  @Override
  public void close() {
    arena.close();
    int result = MemoryCalls.munmap(range.address(), range.byteSize());
    if (result < 0) {
      throw new NativeException("munmap(" + bytes() + " bytes)", -result);
    }
  }

  // The range was just mapped, and is unmapped after arena.close(); the mapping owns both.
  @SuppressWarnings({"restricted", "MustBeClosedChecker"})
  private static Mapping over(long address, long bytes, Protection protection) {
    Arena arena = Arena.ofShared();
    MemorySegment range = MemorySegment.ofAddress(address).reinterpret(bytes, arena, null);
    return new Mapping(arena, range, protection);
  }

  private static void check(Fd fd, long offset, long bytes) {
    long size = Memfd.size(fd);
    if (offset < 0 || offset % PageSize.bytes() != 0) {
      throw new IllegalArgumentException(
          "map of " + fd + ": offset " + offset + " is not a multiple of " + PageSize.bytes());
    }
    if (bytes < 1 || offset > size || bytes > size - offset) {
      throw new IllegalArgumentException(
          "map of " + fd + ": " + bytes + " bytes at " + offset + " leave the file's " + size);
    }
  }

  private void advise(int advice, String name) {
    int result = MemoryCalls.madvise(range, advice);
    if (result < 0) {
      throw failed(name, result);
    }
  }

  private NativeException failed(String name, int result) {
    return new NativeException("madvise(" + bytes() + " bytes, " + name + ")", -result);
  }
}
