package io.orbitkv.ffm;

import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A listening TCP socket of one address. Owned by its creator; threads may accept at the same time,
 * and {@link #close()} from another thread ends their wait.
 */
public final class TcpListener implements AutoCloseable {
  private final Fd fd;

  private TcpListener(Fd fd) {
    this.fd = fd;
  }

  /** Listens with SO_REUSEADDR and default buffers. */
  public static TcpListener listen(InetSocketAddress address, int backlog) {
    return listen(address, backlog, options -> {});
  }

  /**
   * Listens. An IPv6 address takes IPv6 only, so that each address has its own listener.
   *
   * @param address port 0 takes a free one, which {@link #localAddress()} tells
   * @param before sets options, which accepted connections inherit
   * @throws IllegalArgumentException if the host has no address
   * @throws NativeException EADDRINUSE, EADDRNOTAVAIL, EACCES
   */
  public static TcpListener listen(
      InetSocketAddress address, int backlog, Consumer<TcpOptions> before) {
    int family = SocketAddresses.family(address);
    int type = SocketCalls.SOCK_STREAM | SocketCalls.SOCK_CLOEXEC;
    Fd fd = Fd.adoptResult("socket()", SocketCalls.socket(family, type));
    boolean listening = false;
    try {
      if (family == SocketCalls.AF_INET6) {
        SocketOption.V6_ONLY.set(fd, 1);
      }
      before.accept(new TcpOptions(fd).reuseAddress(true));
      bind(fd, address);
      int result = SocketCalls.listen(fd.number(), backlog);
      if (result < 0) {
        throw new NativeException("listen(" + address + ")", -result);
      }
      listening = true;
      return new TcpListener(fd);
    } finally {
      if (!listening) {
        fd.close();
      }
    }
  }

  static void bind(Fd fd, InetSocketAddress address) {
    try (Arena arena = Arena.ofConfined()) {
      int result = SocketCalls.bind(fd.number(), SocketAddresses.encode(address, arena));
      if (result < 0) {
        throw new NativeException(
            "bind(" + address + ")", -result, "choose a free port and an address of this host");
      }
    }
  }

  /**
   * Waits for a connection.
   *
   * @return the connection, which the caller owns; null once this is closed
   * @throws NativeException EMFILE and the like; the listener goes on
   */
  public @Nullable TcpStream accept() {
    Fd accepted = accept(fd);
    return accepted == null ? null : new TcpStream(accepted);
  }

  /** Accepts on any listening socket; null once it was shut down. */
  static @Nullable Fd accept(Fd fd) {
    int number;
    try {
      number = fd.enter();
    } catch (IllegalStateException closed) {
      return null;
    }
    try {
      int result = SocketCalls.accept(number);
      if (result == -Errno.EINVAL) {
        return null;
      }
      return Fd.adoptResult("accept4(" + fd + ")", result);
    } finally {
      fd.leave();
    }
  }

  /** The bound address, with the port that was chosen. */
  public InetSocketAddress localAddress() {
    return SocketAddresses.local(fd);
  }

  /** The descriptor, to add to a {@link Poll}; still owned here. */
  public Fd fd() {
    return fd;
  }

  /**
   * Stops listening; threads in {@link #accept()} return null. Accepted connections live on.
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
    return "tcp listener " + fd;
  }
}
