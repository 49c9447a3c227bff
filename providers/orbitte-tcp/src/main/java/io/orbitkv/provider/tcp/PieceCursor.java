package io.orbitkv.provider.tcp;

import io.orbitkv.api.Batch;

/**
 * A position among the pieces of one side of a batch. Pieces of no bytes are passed over, and
 * pieces that touch inside one descriptor are one piece. One thread at a time.
 */
final class PieceCursor {
  private final Batch batch;
  private final boolean local;
  private int index = -1;
  private int piece;
  private long done;

  // The descriptor at the index.
  private long offset;
  private long length;
  private long stride;
  private int count;

  /** At the first byte of the local or of the remote side. */
  PieceCursor(Batch batch, boolean local) {
    this.batch = batch;
    this.local = local;
    nextDescriptor();
  }

  /** At the position of another. */
  PieceCursor(PieceCursor other) {
    batch = other.batch;
    local = other.local;
    index = other.index;
    piece = other.piece;
    done = other.done;
    offset = other.offset;
    length = other.length;
    stride = other.stride;
    count = other.count;
  }

  /** Which entry of the batch it is in. */
  int index() {
    return index;
  }

  /** Where it stands, bytes from the start of the region or range. */
  long position() {
    return offset + stride * piece + done;
  }

  /** Bytes to the end of the piece; 0 at the end of the batch. */
  long left() {
    return length - done;
  }

  /** Moves on, at most to the end of the piece. */
  void advance(long bytes) {
    done += bytes;
    if (done == length) {
      done = 0;
      piece++;
      if (piece == count) {
        nextDescriptor();
      }
    }
  }

  /** The bytes of the next pieces, at most so many pieces and bytes; moves behind them. */
  long advance(int pieces, long bytes) {
    long sum = 0;
    for (int i = 0; i < pieces && sum < bytes && left() > 0; i++) {
      long step = Math.min(left(), bytes - sum);
      advance(step);
      sum += step;
    }
    return sum;
  }

  private void nextDescriptor() {
    piece = 0;
    done = 0;
    do {
      index++;
      if (index >= batch.size()) {
        length = 0;
        return;
      }
      load();
    } while (length == 0);
    if (stride == length) {
      length *= count;
      stride = length;
      count = 1;
    }
  }

  private void load() {
    if (local) {
      var descriptor = batch.local(index);
      offset = descriptor.offset();
      length = descriptor.length();
      stride = descriptor.stride();
      count = descriptor.count();
    } else {
      var descriptor = batch.remote(index);
      offset = descriptor.offset();
      length = descriptor.length();
      stride = descriptor.stride();
      count = descriptor.count();
    }
  }
}
