package io.orbitkv.manager.local;

import io.orbitkv.adapter.ring.RingLayout;
import java.util.concurrent.Semaphore;
import java.util.function.LongConsumer;

/**
 * The heap that all sessions together may have in long descriptors that are not decoded yet. Who
 * finds none left waits for the others to decode theirs, which blocks on nobody. Thread-safe.
 */
final class DescriptorRoom {
  private static final long SHORT_BYTES = 64 << 10;
  private static final int MOST = 64;

  private final Semaphore places;

  private DescriptorRoom(int places) {
    this.places = new Semaphore(places);
  }

  /** A quarter of the heap, for at most 64 and at least one of the longest. */
  static DescriptorRoom ofHeap() {
    long quarter = Runtime.getRuntime().maxMemory() / 4;
    return new DescriptorRoom(Math.clamp(quarter / RingLayout.DESCRIPTOR_BYTES, 1, MOST));
  }

  Share share() {
    return new Share();
  }

  /** What one command takes, until it is decoded. For one thread. */
  final class Share implements LongConsumer, AutoCloseable {
    private boolean held;

    /** A descriptor of that length is about to be copied. */
    @Override
    public void accept(long bytes) {
      if (bytes > SHORT_BYTES && !held) {
        places.acquireUninterruptibly();
        held = true;
      }
    }

    @Override
    public void close() {
      if (held) {
        places.release();
        held = false;
      }
    }
  }
}
