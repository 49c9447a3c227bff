package io.orbitkv.tck;

import io.orbitkv.api.spi.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;

/**
 * A lever for every provider whose endpoint is {@code scheme://IP:port} and whose bytes all go over
 * TCP connections to it: a proxy in between. Owned by the kit; its threads end with {@link
 * #close()}.
 */
public final class TcpLever implements FaultLever {
  private static final int CHUNK = 16 << 10;
  private static final int BACKLOG = 64;

  private final String scheme;
  private final ServerSocket listener;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final ThreadFactory threads = Thread.ofVirtual().name("tck-lever-", 0).factory();
  private final Object lock = new Object();
  private URI target;
  private long allowance = Long.MAX_VALUE;

  private TcpLever(URI target, ServerSocket listener) {
    this.target = target;
    this.scheme = target.getScheme();
    this.listener = listener;
  }

  /**
   * Stands in front of an owner.
   *
   * @throws UncheckedIOException if no port can be had
   */
  public static TcpLever before(Transport owner) {
    try {
      URI target = owner.endpoint();
      ServerSocket listener = new ServerSocket();
      listener.bind(new InetSocketAddress(host(target), 0), BACKLOG);
      TcpLever lever = new TcpLever(target, listener);
      lever.threads.newThread(lever::accept).start();
      return lever;
    } catch (IOException e) {
      throw new UncheckedIOException("no lever before " + owner.endpoint(), e);
    }
  }

  private static InetAddress host(URI endpoint) {
    String host = endpoint.getHost();
    if (host == null) {
      throw new IllegalArgumentException(endpoint + " is not scheme://IP:port");
    }
    return InetAddress.ofLiteral(host.replaceAll("[\\[\\]]", ""));
  }

  @Override
  public URI endpoint() {
    String host = URI.create(target().toString()).getHost();
    return URI.create(scheme + "://" + host + ":" + listener.getLocalPort());
  }

  private URI target() {
    synchronized (lock) {
      return target;
    }
  }

  @Override
  public void stallAfter(long bytes) {
    synchronized (lock) {
      allowance = bytes;
    }
  }

  @Override
  public void resume() {
    synchronized (lock) {
      allowance = Long.MAX_VALUE;
      lock.notifyAll();
    }
  }

  @Override
  public void cut() {
    List<Socket> open = new ArrayList<>(sockets);
    sockets.removeAll(open);
    open.forEach(TcpLever::end);
  }

  @Override
  public void redirect(Transport successor) {
    synchronized (lock) {
      target = successor.endpoint();
    }
    cut();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket requester = listener.accept();
        sockets.add(requester);
        threads.newThread(() -> join(requester)).start();
      } catch (IOException e) {
        // Closed; or a requester that went away before it was taken.
      }
    }
  }

  private void join(Socket requester) {
    Socket owner = new Socket();
    sockets.add(owner);
    try {
      URI to = target();
      owner.connect(new InetSocketAddress(host(to), to.getPort()));
      requester.setTcpNoDelay(true);
      owner.setTcpNoDelay(true);
      threads.newThread(() -> forward(requester, owner, false)).start();
      forward(owner, requester, true);
    } catch (IOException e) {
      end(requester);
      end(owner);
    }
  }

  private void forward(Socket from, Socket to, boolean limited) {
    byte[] buffer = new byte[CHUNK];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      while (true) {
        int count = in.read(buffer);
        if (count < 0) {
          break;
        }
        for (int at = 0; at < count; ) {
          int step = limited ? take(count - at) : count;
          out.write(buffer, at, step);
          at += step;
        }
      }
    } catch (IOException | InterruptedException e) {
      // Cut.
    } finally {
      end(from);
      end(to);
    }
  }

  /** Waits until bytes may go on; how many of these. */
  private int take(int wanted) throws InterruptedException {
    synchronized (lock) {
      while (allowance == 0) {
        lock.wait();
      }
      int taken = (int) Math.min(wanted, allowance);
      if (allowance != Long.MAX_VALUE) {
        allowance -= taken;
      }
      return taken;
    }
  }

  private static void end(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // Gone already.
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      // Gone already.
    }
    resume();
    cut();
  }
}
