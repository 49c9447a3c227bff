package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A reusable set of descriptors to wait on. Owned by one thread; it owns none of the descriptors.
 * To end a wait from another thread, add an {@link EventFd} and signal it: closing a descriptor of
 * the set does not end the wait.
 */
public final class Poll {
  // asm-generic/poll.h
  /** There is something to read, or the end was reached, or a process has exited. */
  public static final int IN = 1;

  /** A write would take at least one byte. */
  public static final int OUT = 4;

  /**
   * The other end sends no more, or this end was shut down; unlike IN, bytes do not wake for it.
   */
  public static final int READ_HANGUP = 0x2000;

  /** Answered only: an error is pending. */
  public static final int ERR = 8;

  /** Answered only: the other end is gone. */
  public static final int HUP = 16;

  /** Answered only: not an open descriptor. */
  public static final int NVAL = 32;

  // struct pollfd: int fd, short events, short revents
  private static final int ENTRY_BYTES = 8;
  private static final int EVENTS = 4;
  private static final int REVENTS = 6;

  private final MemorySegment entries;
  private final MemorySegment timeout;
  private final List<Fd> descriptors = new ArrayList<>();
  private final int capacity;

  /**
   * An empty set.
   *
   * @param capacity the most descriptors that it will hold, at least 1
   */
  public Poll(int capacity) {
    if (capacity < 1) {
      throw new IllegalArgumentException("poll set: capacity " + capacity + " must be positive");
    }
    this.capacity = capacity;
    Arena arena = Arena.ofAuto();
    entries = arena.allocate((long) capacity * ENTRY_BYTES, 8);
    timeout = arena.allocate(Deadline.TIMESPEC_BYTES, 8);
  }

  /**
   * Adds a descriptor.
   *
   * @param events a union of {@link #IN}, {@link #OUT} and {@link #READ_HANGUP}, or 0 for errors
   *     only
   * @return its index, which stays until {@link #clear()}
   * @throws IllegalStateException if the set is full
   */
  public int add(Fd descriptor, int events) {
    int index = descriptors.size();
    if (index == capacity) {
      throw new IllegalStateException("poll set: full at " + capacity + " descriptors");
    }
    descriptors.add(descriptor);
    interest(index, events);
    return index;
  }

  /** Changes what is waited for at an index. */
  public void interest(int index, int events) {
    entries.set(JAVA_SHORT, entry(index) + EVENTS, (short) events);
    entries.set(JAVA_SHORT, entry(index) + REVENTS, (short) 0);
  }

  /** How many descriptors are in the set. */
  public int size() {
    return descriptors.size();
  }

  /** Empties the set. */
  public void clear() {
    descriptors.clear();
  }

  /**
   * Waits until a descriptor is ready.
   *
   * @param timeoutNanos the longest wait; 0 does not wait, negative waits for ever
   * @return how many are ready, 0 after the timeout
   * @throws IllegalStateException if a descriptor of the set is closed
   * @throws NativeException if the kernel refuses
   */
  public int poll(long timeoutNanos) {
    int entered = 0;
    try {
      for (; entered < descriptors.size(); entered++) {
        entries.set(JAVA_INT, entry(entered), descriptors.get(entered).enter());
      }
      return wait(entries, entered, timeout, 0, timeoutNanos);
    } finally {
      for (int i = 0; i < entered; i++) {
        descriptors.get(i).leave();
      }
    }
  }

  /** What the last {@link #poll} found at an index: a union of the constants, 0 if not ready. */
  public int ready(int index) {
    return entries.get(JAVA_SHORT, entry(index) + REVENTS);
  }

  /**
   * Waits for one descriptor in the thread's own words; answers its events, 0 after the timeout.
   */
  static int one(Fd descriptor, int events, long timeoutNanos) {
    MemorySegment words = CallState.own().words;
    int number = descriptor.enter();
    try {
      words.set(JAVA_INT, 0, number);
      words.set(JAVA_SHORT, EVENTS, (short) events);
      words.set(JAVA_SHORT, REVENTS, (short) 0);
      return wait(words, 1, words, ENTRY_BYTES, timeoutNanos) == 0
          ? 0
          : words.get(JAVA_SHORT, REVENTS);
    } finally {
      descriptor.leave();
    }
  }

  private static int wait(
      MemorySegment entries, int count, MemorySegment time, long timeOffset, long timeoutNanos) {
    Deadline deadline = Deadline.after(timeoutNanos);
    while (true) {
      int result = WaitCalls.ppoll(entries, count, deadline.remaining(time, timeOffset));
      if (result >= 0) {
        return result;
      }
      if (result != -Errno.EINTR) {
        throw new NativeException("ppoll(" + count + " descriptors)", -result);
      }
    }
  }

  private long entry(int index) {
    return (long) Objects.checkIndex(index, descriptors.size()) * ENTRY_BYTES;
  }
}
