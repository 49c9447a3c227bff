package io.orbitkv.api;

/**
 * Bytes of one registered region: {@code count} pieces of {@code length} bytes, {@code stride}
 * bytes from the start of one to the start of the next. A plain (region, offset, length) is the
 * case {@code count == 1}.
 *
 * @param region the region's name
 * @param offset where the first piece begins, bytes from the start of the region
 * @param length bytes of one piece; 0 is allowed and moves nothing
 * @param stride bytes between the starts of two pieces; at least {@code length} if there is more
 *     than one
 * @param count how many pieces, at least 1
 */
public record Descriptor(RegionId region, long offset, long length, long stride, int count) {
  /**
   * Checks the shape. Whether it lies inside the region is checked where the region is known.
   *
   * @throws IllegalArgumentException if a number is negative, pieces overlap, or the end overflows
   */
  public Descriptor {
    Spans.check(offset, length, stride, count);
  }

  /** One contiguous piece. */
  public static Descriptor of(RegionId region, long offset, long length) {
    return new Descriptor(region, offset, length, length, 1);
  }

  /** Bytes that it names, all pieces together. */
  public long bytes() {
    return length * count;
  }

  /** The first byte behind its last piece, from the start of the region. */
  public long end() {
    return Spans.end(offset, length, stride, count);
  }
}
