package io.orbitkv.adapter;

import io.orbitkv.api.FaultCode;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * How much may be published at once, and how much of it is. Whoever waits in publish for room in
 * the ring has a place too, so that this bounds the callers of any one channel as well.
 * Thread-safe; never waits.
 */
final class PublishBudget {
  private static final int MOST = 1_024;
  private static final long MOST_BYTES = 32L << 20;

  /** What all clients of this process share. */
  static final PublishBudget OF_PROCESS = new PublishBudget(MOST, MOST_BYTES);

  private final int most;
  private final long mostBytes;
  private int taken;
  private long takenBytes;

  /** So many publishes, with so many bytes of metadata. */
  PublishBudget(int most, long mostBytes) {
    this.most = most;
    this.mostBytes = mostBytes;
  }

  /** A place of one publish, given back once. */
  final class Place {
    private final long bytes;
    private final AtomicBoolean back = new AtomicBoolean();

    private Place(long bytes) {
      this.bytes = bytes;
    }

    /** It has ended; further calls do nothing. */
    void giveBack() {
      if (back.compareAndSet(false, true)) {
        free(bytes);
      }
    }
  }

  /**
   * A place for one publish.
   *
   * @param bytes of metadata, the larger of request and answer
   * @throws SaveNotSubmitted EXHAUSTED if there is none now, INVALID if there never is
   */
  synchronized Place take(long bytes) {
    if (bytes > mostBytes) {
      throw new SaveNotSubmitted(
          FaultCode.INVALID,
          "publish with %d bytes of metadata; the limit of a process is %d: name fewer blocks at once"
              .formatted(bytes, mostBytes));
    }
    if (taken >= most) {
      throw new SaveNotSubmitted(
          FaultCode.EXHAUSTED,
          taken + " publishes of this process have not ended, the limit; wait for one first");
    }
    if (bytes > mostBytes - takenBytes) {
      throw new SaveNotSubmitted(
          FaultCode.EXHAUSTED,
          "publishes of this process hold %d bytes of metadata, the limit is %d; wait for one first"
              .formatted(takenBytes, mostBytes));
    }
    taken++;
    takenBytes += bytes;
    return new Place(bytes);
  }

  private synchronized void free(long bytes) {
    taken--;
    takenBytes -= bytes;
  }
}
