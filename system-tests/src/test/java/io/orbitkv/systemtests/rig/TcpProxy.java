package io.orbitkv.systemtests.rig;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Stands on 127.0.0.1 in front of an owner's port. What the requester sends goes through; what the
 * owner sends goes through the {@link Valve}: slowed, held, cut or flipped at a chosen byte.
 * Thread-safe; two threads a connection, all ended by {@link #close}.
 */
public final class TcpProxy implements AutoCloseable {
  private static final int BUFFER_BYTES = 16 << 10;

  private final InetSocketAddress target;
  private final ServerSocket listener;
  private final @Nullable Rewriter rewriter;
  private final Valve valve = new Valve(this::cut);
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  private TcpProxy(InetSocketAddress target, ServerSocket listener, @Nullable Rewriter rewriter) {
    this.target = target;
    this.listener = listener;
    this.rewriter = rewriter;
    start(this::accept);
  }

  /** In front of a port. */
  public static TcpProxy to(InetSocketAddress target) {
    return new TcpProxy(target, listen(5), null);
  }

  /**
   * In front of a Manager's control server. The Hello that passes names the data proxy as the
   * transport's address: a provider publishes the address it listens at, so that this is the only
   * way to put something in front of it. Both are written with equally many digits.
   */
  static TcpProxy inFrontOf(ManagerProcess owner, TcpProxy data) {
    byte[] real = address(owner.data().getPort());
    byte[] proxied = address(data.port());
    if (real.length != proxied.length) {
      throw new AssertionError("the ports " + owner.data() + " and " + data.port() + " differ");
    }
    return new TcpProxy(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), owner.controlPort()),
        listen(5),
        new Rewriter(real, proxied));
  }

  /** Where it listens on 127.0.0.1. */
  public int port() {
    return listener.getLocalPort();
  }

  /** What the owner's bytes go through. */
  public Valve valve() {
    return valve;
  }

  /** Closes what is connected now; new connections are taken. */
  public void cut() {
    List<Socket> open = List.copyOf(sockets);
    sockets.removeAll(open);
    open.forEach(TcpProxy::closeQuietly);
    valve.wake();
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      valve.open();
      cut();
    }
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        connect(listener.accept());
      } catch (IOException e) {
        // The listener was closed, or the owner refuses: its loss is what the tests look at.
      }
    }
  }

  private void connect(Socket requester) throws IOException {
    Socket owner = new Socket();
    sockets.add(requester);
    sockets.add(owner);
    try {
      // Small buffers, so that a valve that is shut is felt by the owner at once.
      owner.setReceiveBufferSize(4 * BUFFER_BYTES);
      requester.setSendBufferSize(4 * BUFFER_BYTES);
      owner.setTcpNoDelay(true);
      requester.setTcpNoDelay(true);
      owner.connect(target, 5_000);
    } catch (IOException e) {
      closeQuietly(requester);
      closeQuietly(owner);
      throw e;
    }
    start(() -> pump(requester, owner, false));
    start(() -> pump(owner, requester, true));
  }

  private void pump(Socket from, Socket to, boolean ofOwner) {
    byte[] buffer = new byte[BUFFER_BYTES];
    Rewriter.Stream rewritten = ofOwner && rewriter != null ? rewriter.stream() : null;
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      while (true) {
        int count = in.read(buffer);
        if (count < 0) {
          return;
        }
        if (rewritten != null) {
          out.write(rewritten.pass(buffer, count));
        } else if (ofOwner) {
          valve.pass(buffer, count, out, from);
        } else {
          out.write(buffer, 0, count);
        }
      }
    } catch (IOException | InterruptedException e) {
      // Cut.
    } finally {
      closeQuietly(from);
      closeQuietly(to);
      sockets.remove(from);
      sockets.remove(to);
      valve.wake();
    }
  }

  private static ServerSocket listen(int digits) {
    try {
      while (true) {
        ServerSocket socket = new ServerSocket(0, 64, InetAddress.ofLiteral("127.0.0.1"));
        if (Integer.toString(socket.getLocalPort()).length() == digits) {
          return socket;
        }
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] address(int port) {
    return ("orbitte+tcp://127.0.0.1:" + port).getBytes(StandardCharsets.US_ASCII);
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // Gone already.
    }
  }

  private static void start(Runnable work) {
    Thread.ofPlatform().daemon().name("proxy").start(work);
  }
}
