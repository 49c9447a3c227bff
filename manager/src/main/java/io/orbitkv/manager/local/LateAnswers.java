package io.orbitkv.manager.local;

import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Answers of one session that wait to be put into its ring, in order. Thread-safe. */
final class LateAnswers {
  private static final long ROOM_BYTES = 8L << 20;

  /** What an entry of the ring takes, with or without a descriptor. */
  private static final long ENTRY_BYTES = 64;

  private final ArrayDeque<Answer> queue = new ArrayDeque<>();
  private long bytes;
  private boolean closed;
  private volatile boolean empty = true;
  private volatile boolean full;

  /** Queues one; false once closed. */
  synchronized boolean add(Answer answer) {
    if (closed) {
      return false;
    }
    queue.add(answer);
    count(answer, 1);
    return true;
  }

  /** The first one; null if there is none. */
  @Nullable Answer first() {
    if (empty) {
      return null;
    }
    synchronized (this) {
      return queue.peek();
    }
  }

  synchronized void removeFirst() {
    count(queue.remove(), -1);
  }

  boolean isEmpty() {
    return empty;
  }

  /** Whether so much waits that the session takes no further command. */
  boolean full() {
    return full;
  }

  /** Takes no more; what is left. */
  synchronized List<Answer> close() {
    closed = true;
    List<Answer> left = List.copyOf(queue);
    queue.clear();
    bytes = 0;
    empty = true;
    full = false;
    return left;
  }

  private void count(Answer answer, int sign) {
    bytes += sign * (answer.descriptor().byteSize() + ENTRY_BYTES);
    empty = queue.isEmpty();
    full = bytes > ROOM_BYTES;
  }
}
