package io.orbitkv.api;

/** The checked arithmetic of strided spans, in one place. */
final class Spans {
  private Spans() {}

  static void check(long offset, long length, long stride, int count) {
    if (offset < 0 || length < 0 || stride < 0 || count < 1 || (count > 1 && stride < length)) {
      throw invalid(offset, length, stride, count, "is not a span");
    }
    try {
      long total = end(offset, length, stride, count) + Math.multiplyExact(length, (long) count);
      if (total < 0) {
        throw new ArithmeticException();
      }
    } catch (ArithmeticException e) {
      throw invalid(offset, length, stride, count, "overflows");
    }
  }

  static long end(long offset, long length, long stride, int count) {
    return Math.addExact(
        Math.addExact(offset, Math.multiplyExact(stride, (long) (count - 1))), length);
  }

  private static IllegalArgumentException invalid(
      long offset, long length, long stride, int count, String problem) {
    return new IllegalArgumentException(
        "offset "
            + offset
            + ", length "
            + length
            + ", stride "
            + stride
            + ", count "
            + count
            + " "
            + problem);
  }
}
