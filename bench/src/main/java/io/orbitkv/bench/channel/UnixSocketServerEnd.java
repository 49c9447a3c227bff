package io.orbitkv.bench.channel;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Answers one client of a Unix socket on a thread of its own, until it is closed. */
final class UnixSocketServerEnd implements AutoCloseable {
  private final ServerSocketChannel listener;

  private UnixSocketServerEnd(ServerSocketChannel listener) {
    this.listener = listener;
  }

  static UnixSocketServerEnd start(String path) throws IOException {
    ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    listener.bind(UnixDomainSocketAddress.of(path));
    UnixSocketServerEnd server = new UnixSocketServerEnd(listener);
    Thread.ofPlatform().daemon().name("orbitkv-bench-answers").start(server::serve);
    return server;
  }

  private void serve() {
    ByteBuffer message = ByteBuffer.allocateDirect(Exchange.MESSAGE_BYTES);
    try (SocketChannel client = listener.accept()) {
      while (UnixSocketEnd.read(client, message)) {
        message.put(0, (byte) (message.get(0) + 1));
        UnixSocketEnd.write(client, message);
      }
    } catch (IOException e) {
      if (listener.isOpen()) {
        System.err.println("orbitkv: bench channel: " + e.getMessage());
      }
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
