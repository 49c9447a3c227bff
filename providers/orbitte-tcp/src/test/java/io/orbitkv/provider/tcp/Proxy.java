package io.orbitkv.provider.tcp;

import io.orbitkv.api.spi.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands between requester and owner; can stop what the owner sends after so many bytes, or cut.
 */
final class Proxy implements AutoCloseable {
  private final URI target;
  private final ServerSocket listener;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final AtomicInteger accepted = new AtomicInteger();
  private final Object lock = new Object();
  private long allowance = Long.MAX_VALUE;
  private long forwarded;
  private long changed = -1;
  private final AtomicBoolean losing = new AtomicBoolean();

  Proxy(Transport owner) throws IOException {
    target = owner.endpoint();
    listener = new ServerSocket(0, 16, InetAddress.ofLiteral("127.0.0.1"));
    start(this::accept);
  }

  URI endpoint() {
    return URI.create("orbitte+tcp://127.0.0.1:" + listener.getLocalPort());
  }

  /** From now on so many more bytes from the owner go through, over all connections. */
  void allow(long bytes) {
    synchronized (lock) {
      allowance = bytes;
      lock.notifyAll();
    }
  }

  /** Changes the owner's byte with this number, counted over all connections. */
  void change(long number) {
    synchronized (lock) {
      changed = number;
    }
  }

  /** Takes the next words for the owner, and ends their connection in order. */
  void loseWords() {
    losing.set(true);
  }

  /** Connections so far. */
  int accepted() {
    return accepted.get();
  }

  /** Bytes of the owner that went through. */
  long forwarded() {
    synchronized (lock) {
      return forwarded;
    }
  }

  /** Closes what goes through it now; new connections are taken. */
  void cut() {
    List<Socket> open = List.copyOf(sockets);
    sockets.removeAll(open);
    open.forEach(Proxy::closeQuietly);
  }

  private void accept() {
    try {
      while (true) {
        Socket requester = listener.accept();
        accepted.incrementAndGet();
        Socket owner = new Socket(target.getHost(), target.getPort());
        requester.setTcpNoDelay(true);
        owner.setTcpNoDelay(true);
        sockets.add(requester);
        sockets.add(owner);
        start(() -> greet(requester, owner));
        start(() -> forward(owner, requester, true));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void greet(Socket requester, Socket owner) {
    try {
      InputStream in = requester.getInputStream();
      byte[] preface = in.readNBytes(Wire.PREFACE_BYTES);
      owner.getOutputStream().write(preface);
      boolean words =
          preface.length == Wire.PREFACE_BYTES
              && (ByteBuffer.wrap(preface).getInt(16) & Wire.FEATURE_ONLY_WORDS) != 0;
      if (words && losing.compareAndSet(true, false)) {
        var _ = in.readNBytes(Wire.WORD_BYTES);
        requester.shutdownOutput();
        var _ = in.readAllBytes();
        closeQuietly(requester);
        closeQuietly(owner);
        return;
      }
    } catch (IOException e) {
      // Cut; seen again below.
    }
    forward(requester, owner, false);
  }

  private void forward(Socket from, Socket to, boolean limited) {
    byte[] buffer = new byte[16 << 10];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      while (true) {
        int most = limited ? claim(buffer.length) : buffer.length;
        int count = in.read(buffer, 0, most);
        if (count < 0) {
          break;
        }
        if (limited) {
          spent(buffer, most, count);
        }
        out.write(buffer, 0, count);
      }
    } catch (IOException | InterruptedException e) {
      // Cut.
    } finally {
      closeQuietly(from);
      closeQuietly(to);
    }
  }

  private int claim(int most) throws InterruptedException {
    synchronized (lock) {
      while (allowance == 0) {
        lock.wait();
      }
      int claimed = (int) Math.min(most, allowance);
      allowance -= claimed;
      return claimed;
    }
  }

  private void spent(byte[] buffer, int claimed, int count) {
    synchronized (lock) {
      if (changed >= forwarded && changed < forwarded + count) {
        buffer[(int) (changed - forwarded)] ^= 1;
      }
      allowance += claimed - count;
      forwarded += count;
      lock.notifyAll();
    }
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // Gone already.
    }
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "proxy");
    thread.setDaemon(true);
    thread.start();
  }

  /** From now on nobody listens, and what goes through is cut. */
  void leave() throws IOException {
    listener.close();
    cut();
  }

  @Override
  public void close() throws IOException {
    leave();
  }
}
