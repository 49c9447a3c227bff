package io.orbitkv.provider.tcp;

/**
 * The entries of one READ, as numbers in arrays that are used again for the next: range index,
 * offset, length, stride, count. Adjacent pieces are joined and evenly spaced ones become a strided
 * entry. One thread at a time.
 */
final class EntryList {
  final int[] range = new int[Wire.MAX_PIECES];
  final int[] count = new int[Wire.MAX_PIECES];
  final long[] offset = new long[Wire.MAX_PIECES];
  final long[] length = new long[Wire.MAX_PIECES];
  final long[] stride = new long[Wire.MAX_PIECES];
  private int size;
  private boolean strided;

  void clear() {
    size = 0;
    strided = false;
  }

  int size() {
    return size;
  }

  /** Whether an entry has more than one piece. */
  boolean strided() {
    return strided;
  }

  /** Bytes of the READ frame that carries these entries. */
  int frameBytes() {
    int entry = strided ? Wire.STRIDED_ENTRY_BYTES : Wire.PLAIN_ENTRY_BYTES;
    return Wire.READ_HEADER_BYTES + size * entry;
  }

  /** Appends an entry as it is. */
  void append(int rangeIndex, long at, long bytes, long step, int pieces) {
    range[size] = rangeIndex;
    offset[size] = at;
    length[size] = bytes;
    stride[size] = step;
    count[size] = pieces;
    strided |= pieces > 1;
    size++;
  }

  /** Appends one piece, joined with the last entry where their form allows it. */
  void addPiece(int rangeIndex, long at, long bytes) {
    int last = size - 1;
    if (last >= 0 && range[last] == rangeIndex) {
      if (count[last] == 1 && offset[last] + length[last] == at) {
        length[last] += bytes;
        stride[last] = length[last];
        return;
      }
      if (length[last] == bytes && extendsRun(last, at)) {
        stride[last] = (at - offset[last]) / count[last];
        count[last]++;
        strided = true;
        return;
      }
    }
    append(rangeIndex, at, bytes, bytes, 1);
  }

  private boolean extendsRun(int last, long at) {
    if (count[last] == 1) {
      return at - offset[last] > length[last];
    }
    return at == offset[last] + stride[last] * count[last];
  }
}
