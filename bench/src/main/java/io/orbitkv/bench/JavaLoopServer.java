package io.orbitkv.bench;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The serving end of the Java baseline: a thread for each connection answers each list of ranges
 * with their bytes.
 */
final class JavaLoopServer implements AutoCloseable {
  private final ServerSocketChannel listener;
  private final MemorySegment pool;
  private final List<Thread> threads = new CopyOnWriteArrayList<>();
  private final List<SocketChannel> connections = new CopyOnWriteArrayList<>();

  private JavaLoopServer(ServerSocketChannel listener, MemorySegment pool) {
    this.listener = listener;
    this.pool = pool;
  }

  /** Starts it on a free port of an address. */
  static JavaLoopServer start(InetAddress address, MemorySegment pool) {
    try {
      ServerSocketChannel listener =
          ServerSocketChannel.open().bind(new InetSocketAddress(address, 0));
      JavaLoopServer server = new JavaLoopServer(listener, pool);
      server.startThread("bench-java-accept", server::accept);
      return server;
    } catch (IOException e) {
      throw new TransportException(
          FaultCode.IN_USE, "baseline: " + e.getMessage() + "; free a port of " + address, e);
    }
  }

  private void startThread(String name, Runnable work) {
    threads.add(Thread.ofPlatform().daemon().name(name).start(work));
  }

  int port() {
    return listener.socket().getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        SocketChannel connection = listener.accept();
        connections.add(connection);
        startThread("bench-java-serve", () -> serve(connection));
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  private void serve(SocketChannel connection) {
    try (connection) {
      connection.setOption(StandardSocketOptions.TCP_NODELAY, true);
      JavaLoop.Request request = new JavaLoop.Request();
      ByteBuffer head = ByteBuffer.allocateDirect(JavaLoop.HEAD_BYTES);
      while (request.read(connection)) {
        ByteBuffer[] reply = request.slices(pool, head.clear());
        JavaLoop.writeFully(connection, reply);
      }
    } catch (IOException | IndexOutOfBoundsException e) {
      // A connection that ends, or asks for what is not there, is over.
    }
  }

  /** Ends its threads: afterwards none of them touches the pool. */
  @Override
  public void close() {
    try {
      listener.close();
      for (SocketChannel connection : connections) {
        connection.close();
      }
    } catch (IOException e) {
      // Their threads see it.
    }
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
