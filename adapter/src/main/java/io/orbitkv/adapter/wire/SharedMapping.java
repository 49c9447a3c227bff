package io.orbitkv.adapter.wire;

import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.NativeException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A mapping that several threads copy from, and that is unmapped when it was closed and the last of
 * them has left. Thread-safe; owns the mapping.
 */
public final class SharedMapping {
  private static final long PIECE_BYTES = 64 << 20;

  private final Mapping mapping;
  private final ReentrantLock lock = new ReentrantLock();
  private int inside;
  private boolean closed;
  private @Nullable Runnable whenUnmapped;

  /** Takes the mapping over. */
  public SharedMapping(Mapping mapping) {
    this.mapping = mapping;
  }

  /** Its length, bytes. */
  public long bytes() {
    return mapping.bytes();
  }

  /**
   * Begins a use.
   *
   * @return the bytes, until the {@link #leave()} that the caller owes; null once closed, and then
   *     none is owed
   */
  public @Nullable MemorySegment enter() {
    lock.lock();
    try {
      if (closed) {
        return null;
      }
      inside++;
      return mapping.segment();
    } finally {
      lock.unlock();
    }
  }

  /** Ends a use. */
  public void leave() {
    lock.lock();
    try {
      inside--;
      if (inside > 0 || !closed) {
        return;
      }
    } finally {
      lock.unlock();
    }
    unmap();
  }

  /**
   * Makes all of it present, so that no copy has to; ends early once it is closed, or if the kernel
   * will not. May take long: for a thread of its own.
   */
  public void populate() {
    for (long offset = 0; offset < bytes(); offset += PIECE_BYTES) {
      if (enter() == null) {
        return;
      }
      try {
        mapping.populate(offset, Math.min(PIECE_BYTES, bytes() - offset));
      } catch (NativeException _) {
        return;
      } finally {
        leave();
      }
    }
  }

  /**
   * Refuses new uses; unmaps now or when the last use has ended, and then runs the action, here or
   * on the thread that left. Does not wait.
   *
   * @throws IllegalStateException if already closed
   */
  public void close(Runnable action) {
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("this memory is already closed");
      }
      closed = true;
      whenUnmapped = action;
      if (inside > 0) {
        return;
      }
    } finally {
      lock.unlock();
    }
    unmap();
  }

  private void unmap() {
    mapping.close();
    Runnable action = whenUnmapped;
    if (action != null) {
      action.run();
    }
  }
}
