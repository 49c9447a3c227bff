package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One connection over a Unix socket (SOCK_STREAM) that can carry descriptors. Owned by whoever
 * connected or accepted it. One thread may receive while another sends; a third may {@link
 * #shutdown()} it, which ends a stuck call, or {@link #close()} it. Bytes have no message
 * boundaries.
 */
public final class UnixStream implements AutoCloseable {
  /** The most descriptors in one send. */
  public static final int MAX_DESCRIPTORS = RightsMessage.MAX_DESCRIPTORS;

  private static final int UCRED_BYTES = 12; // struct ucred, linux/socket.h: pid, uid, gid

  private static final long MOST_GROUPS = 65_536; // NGROUPS_MAX, linux/limits.h

  private final Fd fd;
  private final ReentrantLock sending = new ReentrantLock();
  private final ReentrantLock receiving = new ReentrantLock();
  private final RightsMessage out = new RightsMessage();
  private final RightsMessage in = new RightsMessage();

  UnixStream(Fd fd) {
    this.fd = fd;
  }

  /**
   * Listens on a path; see {@link UnixListener#listen}.
   *
   * @param mode permission bits of the socket file, such as 0600
   */
  public static UnixListener listen(Path path, int mode, int backlog) {
    return UnixListener.listen(path, mode, backlog);
  }

  /**
   * Connects.
   *
   * @throws IllegalArgumentException if the path is too long
   * @throws NativeException ENOENT or ECONNREFUSED if nobody listens, EACCES
   */
  public static UnixStream connect(Path path) {
    UnixPath.check(path);
    Fd fd = UnixPath.socket(0);
    int result = UnixPath.connect(fd, path);
    if (result < 0) {
      fd.close();
      throw new NativeException(
          "connect(" + path + ")", -result, "check that the listener runs and the path is its own");
    }
    return new UnixStream(fd);
  }

  /** The effective user of this process. */
  public static int currentUid() {
    return UnixPath.currentUid();
  }

  /**
   * Sends every byte, and descriptors with the first. They stay the caller's, who may close them
   * afterwards.
   *
   * @param bytes at least 1
   * @param passed at most {@link #MAX_DESCRIPTORS}
   * @throws IllegalArgumentException for a wrong count; then nothing was sent
   * @throws NativeException EPIPE if the peer has closed; then it is not known how much was sent
   */
  public void sendFully(MemorySegment source, long offset, long bytes, Fd... passed) {
    SocketIo.checkSource(source, offset, bytes);
    if (passed.length > MAX_DESCRIPTORS) {
      throw new IllegalArgumentException(
          passed.length + " descriptors in one send; the limit is " + MAX_DESCRIPTORS);
    }
    int number = fd.enter();
    sending.lock();
    try {
      long done = passed.length == 0 ? 0 : out.send(number, source, offset, bytes, passed);
      SocketIo.sendAll(number, source, offset + done, bytes - done);
    } finally {
      sending.unlock();
      fd.leave();
    }
  }

  /**
   * Receives what there is, waiting for at least one byte.
   *
   * @param bytes the most, at least 1; with descriptors it can be less than what was sent at once
   * @param sink gets the descriptors that came with it, close-on-exec, owned by the caller
   * @return the count; 0 at the end of the stream
   * @throws NativeException EMFILE if descriptors were lost; those that came are closed, and the
   *     stream is of no more use
   */
  public long receive(MemorySegment target, long offset, long bytes, List<Fd> sink) {
    SocketIo.checkTarget(target, offset, bytes);
    int number = fd.enter();
    receiving.lock();
    try {
      return in.receive(number, target, offset, bytes, sink);
    } finally {
      receiving.unlock();
      fd.leave();
    }
  }

  /**
   * Receives until all bytes are there or the stream ends.
   *
   * @return the count; less than {@code bytes} only at the end of the stream
   */
  public long receiveFully(MemorySegment target, long offset, long bytes, List<Fd> sink) {
    SocketIo.checkTarget(target, offset, bytes);
    int number = fd.enter();
    receiving.lock();
    try {
      long done = 0;
      while (done < bytes) {
        long count = in.receive(number, target, offset + done, bytes - done, sink);
        if (count == 0) {
          break;
        }
        done += count;
      }
      return done;
    } finally {
      receiving.unlock();
      fd.leave();
    }
  }

  /** As the other one; descriptors that come with the bytes are closed unseen by the kernel. */
  public long receiveFully(MemorySegment target, long offset, long bytes) {
    SocketIo.checkTarget(target, offset, bytes);
    int number = fd.enter();
    receiving.lock();
    try {
      return SocketIo.receiveAll(number, target, offset, bytes);
    } finally {
      receiving.unlock();
      fd.leave();
    }
  }

  /** Who is at the other end. */
  public PeerCredentials peerCredentials() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(UCRED_BYTES, 4);
      int result = SocketOption.PEER_CREDENTIALS.read(fd, value);
      if (result < 0) {
        throw SocketOption.PEER_CREDENTIALS.failed("getsockopt", fd, result);
      }
      return new PeerCredentials(
          value.getAtIndex(JAVA_INT, 0),
          value.getAtIndex(JAVA_INT, 1),
          value.getAtIndex(JAVA_INT, 2));
    }
  }

  /** The supplementary groups of who is at the other end, as they were when it connected. */
  public int[] peerGroups() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(JAVA_INT, MOST_GROUPS);
      int result = SocketOption.PEER_GROUPS.read(fd, value);
      if (result < 0) {
        throw SocketOption.PEER_GROUPS.failed("getsockopt", fd, result);
      }
      return value.asSlice(0, result).toArray(JAVA_INT);
    }
  }

  /**
   * The very process that made the other end, without the race of a number that is used again.
   *
   * @return owned by the caller; empty before Linux 6.5, or if the process is gone already
   */
  public Optional<PidFd> peerPidFd() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(JAVA_INT);
      int result = SocketOption.PEER_PIDFD.read(fd, value);
      return result < 0
          ? Optional.empty()
          : Optional.of(PidFd.adopt(Fd.adopt(value.get(JAVA_INT, 0))));
    }
  }

  /** Ends both halves, and a stuck send or receive with them; may be repeated, from any thread. */
  public void shutdown() {
    shutdown(Shutdown.BOTH);
  }

  /** Ends one half; what arrived before the end of the reading half can still be received. */
  public void shutdown(Shutdown half) {
    half.apply(fd);
  }

  /** The descriptor, to add to a {@link Poll}; still owned here. */
  public Fd fd() {
    return fd;
  }

  /**
   * Shuts down and closes. Does not wait for the calls that this ends.
   *
   * @throws IllegalStateException if already closed
   */
  @Override
  public void close() {
    Shutdown.BOTH.apply(fd);
    fd.close();
  }

  @Override
  public String toString() {
    return "unix " + fd;
  }
}
