package io.orbitkv.systemtests.rig;

import java.util.Arrays;

/**
 * Puts one text in the place of another of the same length in a stream of bytes, wherever the
 * stream is split; once, since what may be the beginning of the text waits for what comes behind
 * it, and nothing needs to come behind a reply. Immutable; each connection has its own {@link
 * Stream}.
 */
final class Rewriter {
  private final byte[] from;
  private final byte[] to;

  Rewriter(byte[] from, byte[] to) {
    if (from.length != to.length) {
      throw new IllegalArgumentException("lengths " + from.length + " and " + to.length);
    }
    this.from = from.clone();
    this.to = to.clone();
  }

  Stream stream() {
    return new Stream();
  }

  /** One direction of one connection. */
  final class Stream {
    /** The beginning of the text, if what came last may be that. */
    private byte[] kept = new byte[0];

    private boolean done;

    /** What may go on now. */
    byte[] pass(byte[] bytes, int count) {
      byte[] all = Arrays.copyOf(kept, kept.length + count);
      System.arraycopy(bytes, 0, all, kept.length, count);
      for (int at = 0; !done && at + from.length <= all.length; at++) {
        if (Arrays.equals(all, at, at + from.length, from, 0, from.length)) {
          System.arraycopy(to, 0, all, at, to.length);
          done = true;
        }
      }
      if (done) {
        kept = new byte[0];
        return all;
      }
      int end = all.length;
      for (int length = Math.min(from.length - 1, all.length); length > 0; length--) {
        if (Arrays.equals(all, all.length - length, all.length, from, 0, length)) {
          end -= length;
          break;
        }
      }
      kept = Arrays.copyOfRange(all, end, all.length);
      return Arrays.copyOf(all, end);
    }
  }
}
