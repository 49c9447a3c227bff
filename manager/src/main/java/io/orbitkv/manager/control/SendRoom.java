package io.orbitkv.manager.control;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Bounds what is queued on a stream whose peer does not read: a timeout ends the wait for an
 * answer, but what was sent stays queued. Guarded by its stream.
 */
final class SendRoom {
  private static final long STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(ControlLimits.STALL_MILLIS);

  private final BooleanSupplier ready;
  private long unsentBytes;
  private long busySinceNanos;
  private boolean busy;

  /** With what says whether next to nothing is queued. */
  SendRoom(BooleanSupplier ready) {
    this.ready = ready;
  }

  /** Takes room for a message; false, and nothing is taken, if there is none. */
  boolean take(int bytes) {
    if (!isFree() && unsentBytes + bytes > ControlLimits.MAX_UNSENT_BYTES) {
      return false;
    }
    unsentBytes += bytes;
    return true;
  }

  /** What was queued since the peer last had read all, bytes. */
  long unsentBytes() {
    return unsentBytes;
  }

  /** Whether the peer has read all but a little. */
  boolean isFree() {
    if (ready.getAsBoolean()) {
      busy = false;
      unsentBytes = 0;
    } else if (!busy) {
      busy = true;
      busySinceNanos = System.nanoTime();
    }
    return !busy;
  }

  /** The peer answered something, so it still reads. */
  void heard() {
    busy = false;
  }

  /** Whether the peer has neither caught up nor answered for too long. */
  boolean stalled() {
    return !isFree() && System.nanoTime() - busySinceNanos > STALL_NANOS;
  }
}
