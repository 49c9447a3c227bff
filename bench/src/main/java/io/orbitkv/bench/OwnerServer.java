package io.orbitkv.bench;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.TransportProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;

/**
 * Waits for requesters, one at a time, and is the owner that each of them reads from. Hands out a
 * pool of known bytes and nothing else, without authentication: for measuring only.
 */
public final class OwnerServer implements AutoCloseable {
  private final TransportProvider provider;
  private final Map<String, String> options;
  private final ServerSocket listener;

  private OwnerServer(
      TransportProvider provider, Map<String, String> options, ServerSocket listener) {
    this.provider = provider;
    this.options = options;
    this.listener = listener;
  }

  /**
   * Begins to listen.
   *
   * @param at where; port 0 takes a free one
   * @throws TransportException IN_USE if it can not
   */
  public static OwnerServer listen(
      TransportProvider provider, Map<String, String> options, InetSocketAddress at) {
    try {
      ServerSocket listener = new ServerSocket();
      listener.bind(at);
      return new OwnerServer(provider, options, listener);
    } catch (IOException e) {
      throw new TransportException(
          FaultCode.IN_USE, "--listen " + at + ": " + e.getMessage() + "; choose another", e);
    }
  }

  /** Where it listens. */
  public InetSocketAddress address() {
    return new InetSocketAddress(host(), listener.getLocalPort());
  }

  private InetAddress host() {
    return listener.getInetAddress();
  }

  /** Serves one requester after the other until the process ends or {@link #close} is called. */
  public void serve() {
    while (!listener.isClosed()) {
      try (Socket socket = listener.accept();
          OwnerSession session = new OwnerSession(provider, options, socket)) {
        session.serve();
      } catch (IOException | TransportException e) {
        if (!listener.isClosed()) {
          System.err.println("orbitkv: bench owner: " + e.getMessage());
        }
      }
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      // It is of no use any more either way.
    }
  }
}
