package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;

/**
 * Tells the process that loaded this class from a child that was forked from it. A page that the
 * kernel wipes in every child holds the mark, so that looking costs one load and no system call; a
 * number such as getpid's costs a call each time, and {@link ProcessHandle} answers from a cache
 * that the child inherits. Lives as long as the process.
 */
public final class ForkMark {
  private static final int MARK = 0x4f4b5650;
  private static final MemorySegment PAGE = page();

  private ForkMark() {}

  /** Whether this is a forked child, which shares neither threads nor mappings with its parent. */
  public static boolean isForkedChild() {
    return PAGE.get(JAVA_INT, 0) != MARK;
  }

  // The page is never unmapped, so the global scope is the right one.
  @SuppressWarnings("restricted")
  private static MemorySegment page() {
    long bytes = PageSize.bytes();
    long address = MemoryCalls.mmapAnonymous(bytes);
    if (address < 0) {
      throw new NativeException("mmap(" + bytes + " bytes)", (int) -address);
    }
    MemorySegment page = MemorySegment.ofAddress(address).reinterpret(bytes);
    int result = MemoryCalls.madvise(page, MemoryCalls.MADV_WIPEONFORK);
    if (result < 0) {
      throw new NativeException("madvise(MADV_WIPEONFORK)", -result, "use Linux 4.14 or later");
    }
    page.set(JAVA_INT, 0, MARK);
    return page;
  }
}
