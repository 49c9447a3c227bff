package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The options of one TCP socket. A view: it owns nothing and is of use while its socket is open.
 * Thread-safe. Every method throws {@link NativeException} if the kernel refuses, and {@link
 * IllegalStateException} once the socket is closed.
 */
public final class TcpOptions {
  private static final int CONGESTION_NAME_BYTES = 16; // TCP_CA_NAME_MAX, net/tcp.h
  // struct tcp_info, linux/tcp.h: its first part, and tcpi_min_rtt within
  private static final int TCP_INFO_BYTES = 152;
  private static final int TCP_INFO_MIN_RTT = 148;

  private final Fd fd;

  TcpOptions(Fd fd) {
    this.fd = fd;
  }

  /** Whether small segments are sent at once (TCP_NODELAY). */
  public TcpOptions noDelay(boolean on) {
    return set(SocketOption.NO_DELAY, on ? 1 : 0);
  }

  /** As set by {@link #noDelay(boolean)}. */
  public boolean noDelay() {
    return SocketOption.NO_DELAY.get(fd) != 0;
  }

  /** Whether a listener may bind while old connections of its address linger (SO_REUSEADDR). */
  public TcpOptions reuseAddress(boolean on) {
    return set(SocketOption.REUSE_ADDRESS, on ? 1 : 0);
  }

  /**
   * Bytes of receive buffer (SO_RCVBUF), which ends its automatic growth. The kernel doubles the
   * number, bounds it by net.core.rmem_max, and fixes the window scale at connect or listen: set it
   * before.
   */
  public TcpOptions receiveBuffer(int bytes) {
    return set(SocketOption.RECEIVE_BUFFER, bytes);
  }

  /** Bytes of receive buffer as the kernel counts them, its own overhead included. */
  public int receiveBuffer() {
    return SocketOption.RECEIVE_BUFFER.get(fd);
  }

  /** Bytes of send buffer (SO_SNDBUF), doubled and bounded by net.core.wmem_max. */
  public TcpOptions sendBuffer(int bytes) {
    return set(SocketOption.SEND_BUFFER, bytes);
  }

  /** Bytes of send buffer as the kernel counts them, its own overhead included. */
  public int sendBuffer() {
    return SocketOption.SEND_BUFFER.get(fd);
  }

  /**
   * Bytes that may wait in the send buffer without having been sent once (TCP_NOTSENT_LOWAT,
   * tcp(7)): a send waits while there are more, and goes on below half of it. What is under way
   * does not count, so a long path is filled all the same.
   */
  public TcpOptions unsentBytes(int bytes) {
    return set(SocketOption.UNSENT, bytes);
  }

  /** As set by {@link #unsentBytes(int)}; 0 if it is the system's. */
  public int unsentBytes() {
    return SocketOption.UNSENT.get(fd);
  }

  /**
   * Chooses the congestion control.
   *
   * @param name such as {@code "bbr"}
   * @return false if this kernel does not have it or this process may not choose it
   */
  public boolean congestion(String name) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocateFrom(name);
      if (value.byteSize() > CONGESTION_NAME_BYTES) {
        return false;
      }
      int result = SocketOption.CONGESTION.write(fd, value.asSlice(0, value.byteSize() - 1));
      if (result == -Errno.ENOENT || result == -Errno.EPERM || result == -Errno.EINVAL) {
        return false;
      }
      if (result < 0) {
        throw SocketOption.CONGESTION.failed("setsockopt", fd, result);
      }
      return true;
    }
  }

  /** The name of the congestion control in use. */
  public String congestion() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(CONGESTION_NAME_BYTES + 1);
      int result = SocketOption.CONGESTION.read(fd, value.asSlice(0, CONGESTION_NAME_BYTES));
      if (result < 0) {
        throw SocketOption.CONGESTION.failed("getsockopt", fd, result);
      }
      return value.getString(0);
    }
  }

  /**
   * The least round trip that the kernel has measured on this connection of late (TCP_INFO),
   * microseconds; Integer.MAX_VALUE if it has measured none. It falls towards the path's own as
   * more is sent.
   */
  public int leastRoundTripMicros() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(TCP_INFO_BYTES, 8);
      int result = SocketOption.INFO.read(fd, value);
      if (result < 0) {
        throw SocketOption.INFO.failed("getsockopt", fd, result);
      }
      int micros = result < TCP_INFO_BYTES ? -1 : value.get(JAVA_INT, TCP_INFO_MIN_RTT);
      return micros < 0 ? Integer.MAX_VALUE : micros;
    }
  }

  /** How long sent bytes may stay unacknowledged before the connection fails; 0 is the default. */
  public TcpOptions userTimeoutMillis(int millis) {
    return set(SocketOption.USER_TIMEOUT, millis);
  }

  /** Probes an idle connection: after so many seconds, so often, and gives up after so many. */
  public TcpOptions keepAlive(int idleSeconds, int intervalSeconds, int count) {
    set(SocketOption.KEEP_IDLE, idleSeconds);
    set(SocketOption.KEEP_INTERVAL, intervalSeconds);
    set(SocketOption.KEEP_COUNT, count);
    return set(SocketOption.KEEP_ALIVE, 1);
  }

  /**
   * The longest wait of one receive, after which it throws EAGAIN; 0 waits for ever. After that the
   * position in the stream is not known, so close; unless the receive was one of those that end in
   * time, which tell.
   */
  public TcpOptions receiveTimeoutMillis(long millis) {
    return time(SocketOption.RECEIVE_TIMEOUT, millis);
  }

  /** As {@link #receiveTimeoutMillis}, of one send. */
  public TcpOptions sendTimeoutMillis(long millis) {
    return time(SocketOption.SEND_TIMEOUT, millis);
  }

  private TcpOptions set(SocketOption option, int value) {
    option.set(fd, value);
    return this;
  }

  private TcpOptions time(SocketOption option, long millis) {
    try (Arena arena = Arena.ofConfined()) {
      // struct timeval: seconds, microseconds
      option.set(fd, arena.allocateFrom(JAVA_LONG, millis / 1_000, millis % 1_000 * 1_000));
    }
    return this;
  }
}
