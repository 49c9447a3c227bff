package io.orbitkv.ffm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Names one process for good, unlike its number, which is used again. Owns its descriptor;
 * thread-safe. Its becoming readable is the proof that every thread of the process has ended.
 */
public final class PidFd implements AutoCloseable {
  private static final String PID_LINE = "Pid:";

  private final Fd fd;

  private PidFd(Fd fd) {
    this.fd = fd;
  }

  /**
   * Opens the process that has this number now. The number may have been used again: compare with
   * something that only the right process knows.
   *
   * @throws IllegalArgumentException if the number is not positive
   * @throws NativeException ESRCH if there is no such process
   */
  public static PidFd open(long pid) {
    if (pid < 1 || pid > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("process " + pid + ": not a process number");
    }
    return new PidFd(
        Fd.adoptResult("pidfd_open(" + pid + ")", (int) WaitCalls.pidfdOpen((int) pid)));
  }

  /** Opens this process, to pass it to another. */
  public static PidFd openSelf() {
    return open(ProcessHandle.current().pid());
  }

  /**
   * Takes ownership of a descriptor that came from another process.
   *
   * @throws IllegalArgumentException if it is not a pidfd; it then still belongs to the caller
   */
  public static PidFd adopt(Fd fd) {
    long _ = pid(fd);
    return new PidFd(fd);
  }

  /**
   * The number of the process that a descriptor names.
   *
   * @return -1 once it has exited and was reaped, 0 if it is of another pid namespace
   * @throws IllegalArgumentException if the descriptor is not a pidfd
   */
  public static long pid(Fd fd) {
    int number = fd.enter();
    try {
      List<String> lines = Files.readAllLines(Path.of("/proc/self/fdinfo/" + number));
      for (String line : lines) {
        if (line.startsWith(PID_LINE)) {
          return Long.parseLong(line.substring(PID_LINE.length()).strip());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("reading /proc/self/fdinfo of " + fd + "; mount /proc", e);
    } finally {
      fd.leave();
    }
    throw new IllegalArgumentException(fd + " is not a pidfd; send one made by pidfd_open");
  }

  /** As {@link #pid(Fd)}, of this one. */
  public long pid() {
    return pid(fd);
  }

  /** The descriptor, to pass on or to add to a {@link Poll}; still owned here. */
  public Fd fd() {
    return fd;
  }

  /** Whether the process has exited; true is final. */
  public boolean hasExited() {
    return awaitExit(0);
  }

  /**
   * Waits until the process has exited.
   *
   * @param timeoutNanos 0 does not wait, negative waits for ever
   * @return whether it has exited; true is final
   * @throws IllegalStateException if closed
   */
  public boolean awaitExit(long timeoutNanos) {
    return (Poll.one(fd, Poll.IN, timeoutNanos) & Poll.IN) != 0;
  }

  /** Closes the descriptor; nothing happens to the process. */
  @Override
  public void close() {
    fd.close();
  }

  @Override
  public String toString() {
    return "pidfd " + fd;
  }
}
