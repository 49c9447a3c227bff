package io.orbitkv.ffm;

/**
 * A counter in the kernel that threads and processes wake each other with. Owns its descriptor;
 * thread-safe. A peer that shares it can raise or consume it at will, so it is a hint to look,
 * never evidence.
 */
public final class EventFd implements AutoCloseable {
  private final Fd fd;

  private EventFd(Fd fd) {
    this.fd = fd;
  }

  /**
   * Creates one that is not signalled, close-on-exec and non-blocking.
   *
   * @throws NativeException if the kernel refuses
   */
  public static EventFd create() {
    int flags = WaitCalls.EFD_CLOEXEC | WaitCalls.EFD_NONBLOCK;
    return new EventFd(Fd.adoptResult("eventfd()", WaitCalls.eventfd(flags)));
  }

  /**
   * Takes ownership of one that came from another process, and makes it non-blocking.
   *
   * @throws NativeException if that fails; the descriptor then still belongs to the caller
   */
  public static EventFd adopt(Fd fd) {
    int number = fd.enter();
    try {
      int flags = FileCalls.fcntl(number, FileCalls.F_GETFL, 0);
      int result =
          flags < 0
              ? flags
              : FileCalls.fcntl(number, FileCalls.F_SETFL, flags | FileCalls.O_NONBLOCK);
      if (result < 0) {
        throw new NativeException("fcntl(" + fd + ", O_NONBLOCK)", -result);
      }
    } finally {
      fd.leave();
    }
    return new EventFd(fd);
  }

  /** The descriptor, to pass to another process or to add to a {@link Poll}; still owned here. */
  public Fd fd() {
    return fd;
  }

  /**
   * Raises the count by one and wakes who waits. Does not block: a full counter is signalled
   * already.
   *
   * @throws IllegalStateException if closed
   */
  public void signal() {
    int number = fd.enter();
    try {
      long result = WaitCalls.writeEvents(number, 1);
      if (result < 0 && result != -Errno.EAGAIN) {
        throw new NativeException("write(event " + fd + ")", (int) -result);
      }
    } finally {
      fd.leave();
    }
  }

  /**
   * Takes the whole count.
   *
   * @return the signals since it was last taken, 0 if none
   * @throws IllegalStateException if closed
   */
  public long tryConsume() {
    int number = fd.enter();
    try {
      long result = WaitCalls.readEvents(number);
      if (result < 0 && result != -Errno.EAGAIN) {
        throw new NativeException("read(event " + fd + ")", (int) -result);
      }
      return Math.max(0, result);
    } finally {
      fd.leave();
    }
  }

  /**
   * Waits until it is signalled, without taking the count.
   *
   * @param timeoutNanos 0 does not wait, negative waits for ever
   * @return whether it is signalled
   * @throws IllegalStateException if closed
   */
  public boolean awaitSignal(long timeoutNanos) {
    return (Poll.one(fd, Poll.IN, timeoutNanos) & Poll.IN) != 0;
  }

  /** Closes the descriptor; a thread that waits in {@link #awaitSignal} is not woken by this. */
  @Override
  public void close() {
    fd.close();
  }

  @Override
  public String toString() {
    return "event " + fd;
  }
}
