package io.orbitkv.bench.channel;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A blocking Unix socket. */
final class UnixSocketEnd implements Exchange {
  private final SocketChannel socket;
  private final ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_BYTES);
  private byte count;

  private UnixSocketEnd(SocketChannel socket) {
    this.socket = socket;
  }

  static UnixSocketEnd connect(String path) throws IOException {
    SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
    socket.connect(UnixDomainSocketAddress.of(path));
    return new UnixSocketEnd(socket);
  }

  @Override
  public void exchange() throws IOException {
    message.clear().put(0, ++count);
    write(socket, message);
    if (!read(socket, message)) {
      throw new EOFException("the server of the Unix socket has ended");
    }
    if (message.get(0) != (byte) (count + 1)) {
      throw new IOException("a wrong answer came");
    }
  }

  /** Writes the whole of it. */
  static void write(SocketChannel socket, ByteBuffer message) throws IOException {
    message.clear();
    while (message.hasRemaining()) {
      socket.write(message);
    }
  }

  /** Fills the whole of it; false at the end of the stream. */
  static boolean read(SocketChannel socket, ByteBuffer message) throws IOException {
    message.clear();
    while (message.hasRemaining()) {
      if (socket.read(message) < 0) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
