package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.TcpListener;
import io.orbitkv.ffm.TcpStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The owner's half of a transport: one listener, and one thread for each connection of a requester.
 * Thread-safe.
 */
final class OwnerService {
  /** Connections of requesters at most. */
  static final int LIMIT = 1_024;

  private static final Logger log = LoggerFactory.getLogger(OwnerService.class);
  private static final int BACKLOG = 1_024;
  private static final long RETRY_NANOS = 50_000_000;

  /** For the last bytes to requesters that may have stopped reading. */
  private static final long LEAVE_NANOS = 250_000_000;

  private final Engine engine;
  private final GrantTable grants;
  private final TcpListener listener;
  private final InetSocketAddress address;
  private final Set<OwnerConnection> connections = ConcurrentHashMap.newKeySet();
  private volatile boolean quiesced;
  private volatile boolean closed;

  /**
   * Listens; {@link #start()} makes it answer.
   *
   * @throws TransportException DEVICE if the address can not be had, INVALID if the kernel refuses
   *     the congestion control; nothing is left behind then
   */
  OwnerService(Engine engine, InetSocketAddress listen) {
    this.engine = engine;
    this.grants = new GrantTable(engine.receipts(), engine.meters().holds(), this::endStuckReplies);
    this.listener = listen(listen, engine.settings().congestion());
    this.address = listener.localAddress();
  }

  private static TcpListener listen(InetSocketAddress listen, String congestion) {
    try {
      return TcpListener.listen(listen, BACKLOG, options -> Congestion.check(options, congestion));
    } catch (NativeException e) {
      ListenFault fault = ListenFault.of(listen, e);
      throw new TransportException(FaultCode.DEVICE, fault.cause() + "; " + fault.fix(), e);
    }
  }

  void start() {
    engine.threads().start("accept", this::acceptAll);
  }

  GrantTable grants() {
    return grants;
  }

  URI endpoint() {
    return TcpEndpoint.uri(address);
  }

  /** Refuses, from its return on, new connections. */
  void quiesce() {
    quiesced = true;
  }

  /**
   * Ends listener and connections. Waits a quarter of a second at most, in which each can tell its
   * requester that this owner has ended; then it ends them as they are, and their threads are the
   * engine's to join.
   */
  void close() {
    closed = true;
    quiesced = true;
    listener.close();
    connections.forEach(OwnerConnection::leave);
    awaitEnds();
    connections.forEach(OwnerConnection::shutdown);
  }

  /** Whether this owner has ended: no hold of it is left, and there will be no other. */
  boolean closed() {
    return closed;
  }

  private synchronized void awaitEnds() {
    long end = System.nanoTime() + LEAVE_NANOS;
    boolean interrupted = false;
    long left = LEAVE_NANOS;
    while (!connections.isEmpty() && left > 0) {
      try {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      } catch (InterruptedException e) {
        interrupted = true;
        break;
      }
      left = end - System.nanoTime();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Why a new connection is not served; null if it is. One that brings only words is needed until
   * the end: what they speak of is waited for.
   */
  @Nullable FaultCode refusal(boolean onlyWords) {
    if (closed || (quiesced && !onlyWords)) {
      return FaultCode.CLOSING;
    }
    return connections.size() > LIMIT ? FaultCode.EXHAUSTED : null;
  }

  /** Whether a reply that a connection has sent is still referred to. */
  boolean refersTo(OwnerConnection connection) {
    return grants.holds().stream().anyMatch(hold -> hold.refersTo(connection));
  }

  /** A connection was reset. */
  void reset(OwnerConnection connection) {
    grants.holds().forEach(hold -> hold.reset(connection));
  }

  /** A connection's thread is at its end. */
  void ended(OwnerConnection connection) {
    if (connections.remove(connection)) {
      engine.meters().incoming().add(-1);
    }
    if (closed) {
      synchronized (this) {
        notifyAll();
      }
    }
  }

  private void acceptAll() {
    while (true) {
      TcpStream stream;
      try {
        stream = listener.accept();
      } catch (NativeException e) {
        // Out of descriptors, most of the time: others have to close some first.
        log.warn("orbitte-tcp {} can not accept: {}", endpoint(), e.getMessage());
        LockSupport.parkNanos(RETRY_NANOS);
        continue;
      }
      if (stream == null) {
        return;
      }
      // A few more than the limit are let in, to be told that there is one.
      if (connections.size() >= LIMIT + LIMIT / 8) {
        stream.close();
        continue;
      }
      OwnerConnection connection;
      try {
        connection = new OwnerConnection(engine, this, stream);
      } catch (NativeException e) {
        // The peer has left already.
        stream.close();
        continue;
      }
      connections.add(connection);
      engine.meters().incoming().add(1);
      engine.threads().start("serve", connection);
      if (closed) {
        connection.shutdown();
      }
    }
  }

  private void endStuckReplies(TcpSourceHold hold, long atMostNanos) {
    engine.after(
        Math.min(engine.graceNanos(), atMostNanos),
        () -> {
          for (OwnerConnection connection : connections) {
            if (hold.entered() && connection.serves(hold)) {
              log.info(
                  "orbitte-tcp {} ends the connection of {}: a reply under {} was stuck",
                  endpoint(),
                  connection,
                  hold.grant());
              connection.shutdown();
            }
          }
        });
  }
}
