package io.orbitkv.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One TCP connection with blocking calls. Owned by whoever connected or accepted it.
 *
 * <p>One thread may receive while another sends. A third one may {@link #shutdown} it, which ends a
 * stuck call of either, or {@link #close()} it. After {@code close()} no call can begin, and the
 * descriptor's number is not used again before the last call has ended. Reset and other ends by
 * error are {@link NativeException}s.
 */
public final class TcpStream implements AutoCloseable {
  /** What the next receive would find. */
  public enum Peek {
    /** At least one byte. */
    DATA,
    /** Nothing yet. */
    NOTHING,
    /** The end of the stream. */
    END
  }

  private final Fd fd;

  TcpStream(Fd fd) {
    this.fd = fd;
  }

  /**
   * Connects, with the system's choice of local address and buffers.
   *
   * @throws NativeException ETIMEDOUT after the timeout, ECONNREFUSED and so on
   */
  public static TcpStream connect(InetSocketAddress remote, int timeoutMillis) {
    return connect(remote, null, timeoutMillis, options -> {});
  }

  /**
   * Connects.
   *
   * @param local the address to connect from; null leaves it to the system
   * @param before sets options that must be set before the connection exists
   * @throws IllegalArgumentException if the host has no address or the families differ
   * @throws NativeException ETIMEDOUT after the timeout, ECONNREFUSED and so on
   */
  public static TcpStream connect(
      InetSocketAddress remote,
      @Nullable InetSocketAddress local,
      int timeoutMillis,
      Consumer<TcpOptions> before) {
    int family = SocketAddresses.family(remote);
    if (local != null && SocketAddresses.family(local) != family) {
      throw new IllegalArgumentException(
          "connect from " + local + " to " + remote + ": use two addresses of one family");
    }
    int type = SocketCalls.SOCK_STREAM | SocketCalls.SOCK_CLOEXEC | SocketCalls.SOCK_NONBLOCK;
    Fd fd = Fd.adoptResult("socket()", SocketCalls.socket(family, type));
    boolean connected = false;
    try {
      before.accept(new TcpOptions(fd));
      if (local != null) {
        TcpListener.bind(fd, local);
      }
      connect(fd, remote, timeoutMillis);
      connected = true;
      return new TcpStream(fd);
    } finally {
      if (!connected) {
        fd.close();
      }
    }
  }

  private static void connect(Fd fd, InetSocketAddress remote, int timeoutMillis) {
    String call = "connect(" + remote + ")";
    int result;
    try (Arena arena = Arena.ofConfined()) {
      result = SocketCalls.connect(fd.number(), SocketAddresses.encode(remote, arena));
    }
    if (result == -Errno.EINPROGRESS || result == -Errno.EINTR) {
      long timeout = TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
      if (Poll.one(fd, Poll.OUT, timeout) == 0) {
        throw new NativeException(call, Errno.ETIMEDOUT, "no answer in " + timeoutMillis + " ms");
      }
      result = -SocketOption.ERROR.get(fd);
    }
    if (result < 0) {
      throw new NativeException(call, -result);
    }
    // A port of this host that nobody listens on can be given to the connecting end itself.
    if (SocketAddresses.local(fd).equals(SocketAddresses.remote(fd))) {
      throw new NativeException(call, Errno.ECONNREFUSED, "it met only itself");
    }
    int flags = FileCalls.fcntl(fd.number(), FileCalls.F_GETFL, 0);
    result =
        flags < 0
            ? flags
            : FileCalls.fcntl(fd.number(), FileCalls.F_SETFL, flags & ~FileCalls.O_NONBLOCK);
    if (result < 0) {
      throw new NativeException("fcntl(" + fd + ", F_SETFL)", -result);
    }
  }

  /**
   * Receives.
   *
   * @param bytes the most, or with {@code all} exactly, how many; at least 1
   * @param all waits for all of them; less come only at the end of the stream
   * @return the count; 0 at the end of the stream
   * @throws IndexOutOfBoundsException if the range leaves the segment
   * @throws IllegalStateException if this or the segment's arena is closed
   */
  public long receive(MemorySegment target, long offset, long bytes, boolean all) {
    SocketIo.checkTarget(target, offset, bytes);
    int number = fd.enter();
    try {
      return all
          ? SocketIo.receiveAll(number, target, offset, bytes)
          : SocketIo.receiveOnce(number, target, offset, bytes, 0);
    } finally {
      fd.leave();
    }
  }

  /**
   * Sends at least one byte, in one call.
   *
   * @return the count
   */
  public long send(MemorySegment source, long offset, long bytes) {
    SocketIo.checkSource(source, offset, bytes);
    int number = fd.enter();
    try {
      return SocketIo.sendOnce(number, source, offset, bytes);
    } finally {
      fd.leave();
    }
  }

  /** Sends every byte; after an exception it is not known how many went. */
  public void sendFully(MemorySegment source, long offset, long bytes) {
    SocketIo.checkSource(source, offset, bytes);
    int number = fd.enter();
    try {
      SocketIo.sendAll(number, source, offset, bytes);
    } finally {
      fd.leave();
    }
  }

  /** As {@link #sendFully} of what more follows at once, so that both go together. */
  public void sendFullyBeforeMore(MemorySegment source, long offset, long bytes) {
    SocketIo.checkSource(source, offset, bytes);
    int number = fd.enter();
    try {
      SocketIo.sendAll(number, source, offset, bytes, SocketCalls.MSG_MORE);
    } finally {
      fd.leave();
    }
  }

  /**
   * Sends every byte of a range of a file by sendfile(2). The kernel refers to the file's pages and
   * does not tell until when: they must not change before the receiver has said that it has read
   * them, or that its end is closed. After an exception it is not known how many bytes went.
   *
   * @param file a descriptor that stays open during the call
   * @param position where in the file, bytes
   * @param bytes at least 1
   */
  public void sendFileFully(int file, long position, long bytes) {
    if (file < 0 || position < 0 || bytes < 1) {
      throw new IllegalArgumentException(
          "sendfile of " + bytes + " bytes at " + position + " of descriptor " + file);
    }
    int number = fd.enter();
    try {
      SocketIo.sendFileAll(number, file, position, bytes);
    } finally {
      fd.leave();
    }
  }

  /**
   * Receives into the ranges of a list and advances it.
   *
   * @param all waits until the list is full; less come only at the end of the stream
   * @return the count; 0 at the end of the stream
   */
  public long receiveVector(IoVector target, boolean all) {
    int number = fd.enter();
    try {
      return all ? SocketIo.receiveAll(number, target) : SocketIo.receiveOnce(number, target, 0);
    } finally {
      fd.leave();
    }
  }

  /**
   * Receives what is there, without waiting; for few bytes, since it keeps safepoints waiting.
   *
   * @return the count; 0 at the end of the stream; -1 if nothing is there
   */
  public long receiveNow(MemorySegment target, long offset, long bytes) {
    SocketIo.checkTarget(target, offset, bytes);
    int number = fd.enter();
    try {
      return SocketIo.orNothing(
          "recv", number, SocketCalls.recvNow(number, target.asSlice(offset, bytes), bytes));
    } finally {
      fd.leave();
    }
  }

  /**
   * Receives what is there into the ranges of a list, without waiting, and advances it.
   *
   * @return the count; 0 at the end of the stream; -1 if nothing is there
   */
  public long receiveVectorNow(IoVector target) {
    int number = fd.enter();
    try {
      long result =
          SocketIo.orNothing("recvmsg", number, target.receive(number, SocketCalls.MSG_DONTWAIT));
      if (result > 0) {
        target.advance(result);
      }
      return result;
    } finally {
      fd.leave();
    }
  }

  /**
   * Receives until the list is full, or {@link TcpOptions#receiveTimeoutMillis} has passed, and
   * advances it.
   *
   * @return the count; 0 at the end of the stream; -1 if nothing came in that time
   */
  public long receiveVectorInTime(IoVector target) {
    int number = fd.enter();
    try {
      long result =
          SocketIo.orNothing("recvmsg", number, target.receive(number, SocketCalls.MSG_WAITALL));
      if (result > 0) {
        target.advance(result);
      }
      return result;
    } finally {
      fd.leave();
    }
  }

  /**
   * Receives at least one byte, unless {@link TcpOptions#receiveTimeoutMillis} passes.
   *
   * @return the count; 0 at the end of the stream; -1 if nothing came in that time
   */
  public long receiveInTime(MemorySegment target, long offset, long bytes) {
    SocketIo.checkTarget(target, offset, bytes);
    int number = fd.enter();
    try {
      return SocketIo.orNothing(
          "recv", number, SocketCalls.recv(number, target.asSlice(offset, bytes), bytes, 0));
    } finally {
      fd.leave();
    }
  }

  /**
   * Waits until something can be received, the end of the stream or an error included.
   *
   * @param timeoutNanos 0 does not wait, negative waits for ever
   * @return false after the timeout
   */
  public boolean awaitReadable(long timeoutNanos) {
    return Poll.one(fd, Poll.IN, timeoutNanos) != 0;
  }

  /** Sends at least one byte of a list, in one call, and advances it; returns the count. */
  public long sendVector(IoVector source) {
    int number = fd.enter();
    try {
      return SocketIo.sendOnce(number, source);
    } finally {
      fd.leave();
    }
  }

  /** Sends every byte of a list and advances it to its end. */
  public void sendVectorFully(IoVector source) {
    int number = fd.enter();
    try {
      SocketIo.sendAll(number, source);
    } finally {
      fd.leave();
    }
  }

  /** Looks whether there is something to receive, without waiting for it or taking it. */
  public Peek peekNonBlocking() {
    int number = fd.enter();
    try {
      long result = SocketCalls.peekNow(number);
      if (result == -Errno.EAGAIN || result == -Errno.EINTR) {
        return Peek.NOTHING;
      }
      return SocketIo.orThrow("recv", number, result) == 0 ? Peek.END : Peek.DATA;
    } finally {
      fd.leave();
    }
  }

  /** Ends one or both halves, from any thread; may be repeated. */
  public void shutdown(Shutdown how) {
    how.apply(fd);
  }

  /**
   * Resets the connection now (connect(2) with AF_UNSPEC): when this returns the kernel has dropped
   * what it still had to send or to have acknowledged, and refers to it no more. Whoever else is
   * inside a call fails. The descriptor stays open.
   *
   * @throws NativeException if it was not reset; then nothing is known
   */
  public void reset() {
    int number = fd.enter();
    try (Arena arena = Arena.ofConfined()) {
      // All zero: a struct sockaddr, 16 bytes, of family AF_UNSPEC.
      SocketIo.orThrow(
          "connect to nobody", number, SocketCalls.connect(number, arena.allocate(16, 2)));
    } finally {
      fd.leave();
    }
  }

  /** The options of this connection. */
  public TcpOptions options() {
    return new TcpOptions(fd);
  }

  /** The address of this end. */
  public InetSocketAddress localAddress() {
    return SocketAddresses.local(fd);
  }

  /** The address of the other end. */
  public InetSocketAddress remoteAddress() {
    return SocketAddresses.remote(fd);
  }

  /** The descriptor, to add to a {@link Poll}; still owned here. */
  public Fd fd() {
    return fd;
  }

  /**
   * Shuts both halves down and closes. Does not wait for the calls that this ends.
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
    return "tcp " + fd;
  }
}
