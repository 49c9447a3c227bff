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
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Stands on 127.0.0.1 in front of an owner's port. What either side sends goes through a {@link
 * Valve} of its own: slowed, held, cut or flipped at a chosen byte. Thread-safe; two threads a
 * connection, all ended by {@link #close}.
 */
public final class TcpProxy implements AutoCloseable {
  private static final int BUFFER_BYTES = 16 << 10;

  private final ServerSocket listener;
  private final Valve valve = new Valve(this::cut);
  private final Valve requests = new Valve(this::cut);
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final List<Flow> flows = new CopyOnWriteArrayList<>();
  private volatile @Nullable InetSocketAddress target;
  private volatile @Nullable Rewriter rewriter;
  private volatile long idleNanos = Long.MAX_VALUE;

  private TcpProxy() {
    this.listener = listen(5);
    start(this::accept);
  }

  /** In front of nothing yet: whoever connects is closed. */
  public static TcpProxy unplugged() {
    return new TcpProxy();
  }

  /** In front of a port. */
  public static TcpProxy to(InetSocketAddress target) {
    return unplugged().retarget(target);
  }

  /** In front of another port from the next connection on. */
  public TcpProxy retarget(InetSocketAddress newTarget) {
    target = newTarget;
    return this;
  }

  /**
   * In front of a Manager's control server from the next connection on. The Hello that passes names
   * the data proxy as the transport's address: a provider publishes the address it listens at, so
   * that this is the only way to put something in front of it. Both are written with equally many
   * digits.
   */
  public TcpProxy retarget(ManagerProcess owner, TcpProxy data) {
    byte[] real = address(owner.data().getPort());
    byte[] proxied = address(data.port());
    if (real.length != proxied.length) {
      throw new AssertionError("the ports " + owner.data() + " and " + data.port() + " differ");
    }
    rewriter = new Rewriter(real, proxied);
    return retarget(new InetSocketAddress(InetAddress.getLoopbackAddress(), owner.controlPort()));
  }

  /** Where it listens on 127.0.0.1. */
  public int port() {
    return listener.getLocalPort();
  }

  /** What the owner's bytes go through. */
  public Valve valve() {
    return valve;
  }

  /** What the requester's bytes go through. */
  public Valve requests() {
    return requests;
  }

  /**
   * Forgets every connection that is idle for so long: what is sent on it later, its close too, is
   * lost, and nobody is told.
   */
  public void forgetIdle(Duration idle) {
    idleNanos = idle.toNanos();
  }

  /** Whether every connection that was made is forgotten or closed. */
  public boolean forgotten() {
    return flows.stream().allMatch(Flow::forgotten);
  }

  /** Closes what is connected now; new connections are taken. */
  public void cut() {
    List<Socket> open = List.copyOf(sockets);
    sockets.removeAll(open);
    open.forEach(TcpProxy::closeQuietly);
    valve.wake();
    requests.wake();
  }

  /** Closes the connection that the most bytes came on. */
  public void cutBusiest() {
    flows.stream()
        .max(Comparator.comparingLong(Flow::bytes))
        .ifPresent(flow -> closeQuietly(flow.requester()));
    valve.wake();
    requests.wake();
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      valve.open();
      requests.open();
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
    InetSocketAddress where = target;
    if (where == null) {
      closeQuietly(requester);
      return;
    }
    Socket owner = new Socket();
    sockets.add(requester);
    sockets.add(owner);
    try {
      // Small buffers, so that a valve that is shut is felt by the owner at once.
      owner.setReceiveBufferSize(4 * BUFFER_BYTES);
      requester.setSendBufferSize(4 * BUFFER_BYTES);
      owner.setTcpNoDelay(true);
      requester.setTcpNoDelay(true);
      owner.connect(where, 5_000);
    } catch (IOException e) {
      closeQuietly(requester);
      closeQuietly(owner);
      throw e;
    }
    Flow flow = new Flow(requester, () -> idleNanos);
    flows.add(flow);
    Rewriter rewriting = rewriter;
    start(() -> pump(flow, requester, owner, requests, null));
    start(() -> pump(flow, owner, requester, valve, rewriting == null ? null : rewriting.stream()));
  }

  private void pump(
      Flow flow, Socket from, Socket to, Valve through, Rewriter.@Nullable Stream rewritten) {
    byte[] buffer = new byte[BUFFER_BYTES];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      while (true) {
        int count = in.read(buffer);
        if (count < 0) {
          return;
        }
        if (flow.pass(count)) {
          byte[] bytes = rewritten == null ? buffer : rewritten.pass(buffer, count);
          through.pass(bytes, rewritten == null ? count : bytes.length, out, from);
        }
      }
    } catch (IOException | InterruptedException e) {
      // Cut.
    } finally {
      end(flow, from, to);
    }
  }

  private void end(Flow flow, Socket from, Socket to) {
    closeQuietly(from);
    sockets.remove(from);
    if (!flow.forgotten()) {
      closeQuietly(to);
      sockets.remove(to);
      flows.remove(flow);
    }
    valve.wake();
    requests.wake();
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
