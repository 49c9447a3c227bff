package io.orbitkv.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A reusable list of memory ranges for one send or receive. Owned by one thread; allocates once.
 *
 * <p>It keeps the segments reachable and checks at each call that their arenas are open. An arena
 * closed by another thread during the call is not stopped: the caller's pin has to prevent that.
 */
public final class IoVector {
  /** The most ranges in one list: UIO_MAXIOV, linux/uio.h. */
  public static final int MAX_RANGES = 1024;

  private static final int FIRST = 64;

  private final MemorySegment header;
  private final MemorySegment memory;
  private final @Nullable MemorySegment[] segments;
  private int head;
  private int count;
  private long remaining;
  private boolean writable = true;

  /**
   * An empty list.
   *
   * @param capacity the most ranges that it will hold, 1 to {@link #MAX_RANGES}
   */
  public IoVector(int capacity) {
    if (capacity < 1 || capacity > MAX_RANGES) {
      throw new IllegalArgumentException(
          "I/O vector: capacity " + capacity + " is not 1 to " + MAX_RANGES);
    }
    segments = new @Nullable MemorySegment[capacity];
    memory = Arena.ofAuto().allocate(FIRST + (long) capacity * MessageHeader.IOVEC_BYTES, FIRST);
    header = memory.asSlice(0, MessageHeader.BYTES);
  }

  /**
   * Appends a range; one of no bytes is left out.
   *
   * @throws IndexOutOfBoundsException if it leaves the segment
   * @throws IllegalArgumentException if it is not native memory
   * @throws IllegalStateException if the list is full or the segment's arena is closed
   */
  public IoVector add(MemorySegment segment, long offset, long bytes) {
    SocketIo.check(segment, offset, bytes);
    if (bytes == 0) {
      return this;
    }
    if (count == segments.length) {
      throw new IllegalStateException("I/O vector: full at " + count + " ranges");
    }
    segments[count] = segment;
    MessageHeader.iovec(memory, at(count), segment.address() + offset, bytes);
    writable &= !segment.isReadOnly();
    count++;
    remaining = Math.addExact(remaining, bytes);
    return this;
  }

  /** Forgets every range. */
  public void clear() {
    Arrays.fill(segments, 0, count, null);
    head = 0;
    count = 0;
    remaining = 0;
    writable = true;
  }

  /** Bytes still to move. */
  public long remaining() {
    return remaining;
  }

  /** Ranges still to move, whole or in part. */
  public int ranges() {
    return count - head;
  }

  /** Whether another range fits. */
  public boolean isFull() {
    return count == segments.length;
  }

  /**
   * Takes moved bytes off the front. The send and receive methods do it themselves.
   *
   * @throws IllegalArgumentException if it is negative or more than {@link #remaining()}
   */
  public void advance(long bytesDone) {
    if (bytesDone < 0 || bytesDone > remaining) {
      throw new IllegalArgumentException(
          "I/O vector: can not advance " + bytesDone + " of " + remaining + " bytes");
    }
    remaining -= bytesDone;
    long left = bytesDone;
    while (left > 0) {
      long bytes = MessageHeader.iovecBytes(memory, at(head));
      if (left < bytes) {
        long address = MessageHeader.iovecAddress(memory, at(head));
        MessageHeader.iovec(memory, at(head), address + left, bytes - left);
        return;
      }
      left -= bytes;
      segments[head++] = null;
    }
  }

  /** One sendmsg of what remains; the count, or the negated error number. */
  long send(int fd) {
    prepare();
    try {
      return SocketCalls.sendmsg(fd, header);
    } finally {
      Reference.reachabilityFence(segments);
    }
  }

  /** One recvmsg into what remains; the count, or the negated error number. */
  long receive(int fd, int flags) {
    if (!writable) {
      throw new IllegalArgumentException("I/O vector: can not receive into a read-only segment");
    }
    prepare();
    try {
      return SocketCalls.recvmsg(fd, header, flags);
    } finally {
      Reference.reachabilityFence(segments);
    }
  }

  private void prepare() {
    if (head == count) {
      throw new IllegalStateException("I/O vector: nothing to move; add a range first");
    }
    for (int i = head; i < count; i++) {
      MemorySegment segment = segments[i];
      if (segment != null && !segment.scope().isAlive()) {
        throw new IllegalStateException("I/O vector: the memory of range " + i + " is closed");
      }
    }
    MessageHeader.vector(header, memory.asSlice(at(head)), (long) count - head);
  }

  private static long at(int index) {
    return FIRST + (long) index * MessageHeader.IOVEC_BYTES;
  }
}
