package io.orbitkv.ffm;

/** The page size of this machine. */
public final class PageSize {
  private static final long BYTES = MemoryCalls.pageSize();

  private PageSize() {}

  /** Bytes in one page: a power of two, 4,096 on x86_64 and up to 65,536 on aarch64. */
  public static long bytes() {
    return BYTES;
  }

  /**
   * The least multiple of the page size that is not below {@code bytes}.
   *
   * @throws ArithmeticException if it does not fit a long
   */
  public static long roundUp(long bytes) {
    return Math.addExact(bytes, BYTES - 1) & -BYTES;
  }
}
