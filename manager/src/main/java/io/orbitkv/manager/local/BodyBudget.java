package io.orbitkv.manager.local;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * The heap that all sessions together may have in long frames that are not decoded yet: so many
 * clients that each send half a frame can not take it all. Thread-safe.
 */
final class BodyBudget {
  private static final long MOST_BYTES = 256L << 20;

  private final long bytes;
  private final AtomicLong taken = new AtomicLong();

  BodyBudget(long bytes) {
    this.bytes = bytes;
  }

  /** A quarter of the heap, at most 256 MiB, but at least one frame. */
  static BodyBudget ofHeap(long frameBytes) {
    return new BodyBudget(
        Math.max(frameBytes, Math.min(MOST_BYTES, Runtime.getRuntime().maxMemory() / 4)));
  }

  /** What one session has of it, one frame after another. For its reader thread. */
  final class Share implements LongConsumer {
    private long held;

    /** The frame grows to that length; throws EXHAUSTED if too much is taken. */
    @Override
    public void accept(long frameBytes) {
      long more = frameBytes - held;
      long now = taken.addAndGet(more);
      if (now > bytes) {
        taken.addAndGet(-more);
        throw new TransportException(
            FaultCode.EXHAUSTED,
            "%d bytes of long frames are under way in all sessions, the limit is %d; send shorter frames"
                .formatted(now - more, bytes));
      }
      held = frameBytes;
    }

    /** The frame is decoded or lost. */
    void end() {
      taken.addAndGet(-held);
      held = 0;
    }
  }
}
