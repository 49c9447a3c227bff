package io.orbitkv.api;

/**
 * Bytes of one range of a {@link RemoteRegion}; the strided form as in {@link Descriptor}. It
 * carries an index and an offset, never an address.
 *
 * @param range index of the range in the grant, from 0
 * @param offset where the first piece begins, bytes from the start of the range
 * @param length bytes of one piece
 * @param stride bytes between the starts of two pieces
 * @param count how many pieces, at least 1
 */
public record RemoteDescriptor(int range, long offset, long length, long stride, int count) {
  /**
   * Checks the shape.
   *
   * @throws IllegalArgumentException if a number is negative, pieces overlap, or the end overflows
   */
  public RemoteDescriptor {
    if (range < 0) {
      throw new IllegalArgumentException("range " + range + " is negative");
    }
    Spans.check(offset, length, stride, count);
  }

  /** One contiguous piece. */
  public static RemoteDescriptor of(int range, long offset, long length) {
    return new RemoteDescriptor(range, offset, length, length, 1);
  }

  /** Bytes that it names, all pieces together. */
  public long bytes() {
    return length * count;
  }

  /** The first byte behind its last piece, from the start of the range. */
  public long end() {
    return Spans.end(offset, length, stride, count);
  }
}
