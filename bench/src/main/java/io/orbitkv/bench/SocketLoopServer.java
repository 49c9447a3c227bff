package io.orbitkv.bench;

import java.net.InetAddress;
import java.util.List;

/** The serving end of the C baseline, on the owner's host. */
final class SocketLoopServer implements AutoCloseable {
  private final SocketLoop loop;
  private final int port;

  private SocketLoopServer(SocketLoop loop, int port) {
    this.loop = loop;
    this.port = port;
  }

  /** Starts it, its pool filled, on a free port of an address. */
  static SocketLoopServer start(InetAddress address, long poolBytes) {
    SocketLoop loop =
        SocketLoop.start(List.of("server", address.getHostAddress(), Long.toString(poolBytes)));
    try {
      String ready = loop.readLine();
      return new SocketLoopServer(loop, Integer.parseInt(ready.substring("ready ".length())));
    } catch (RuntimeException e) {
      loop.close();
      throw e;
    }
  }

  int port() {
    return port;
  }

  long cpuNanos() {
    loop.writeLine("cpu");
    return Long.parseLong(loop.readLine());
  }

  @Override
  public void close() {
    loop.close();
  }
}
