package io.orbitkv.manager.control;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.proto.ControlReply;
import io.orbitkv.manager.control.proto.ControlRequest;
import io.orbitkv.manager.control.proto.PeerControlGrpc;
import io.orbitkv.manager.membership.ControlAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The owner's end of the control plane: listens, and answers every stream from its {@link
 * ControlService} on one thread, {@code orbitkv-control-server}. Thread-safe; ends with {@link
 * #stop}.
 */
public final class ControlServer implements AutoCloseable {
  // The longest that a dead peer goes unnoticed while nothing is said: 7 s + 3 s.
  private static final long KEEPALIVE_SECONDS = 7;
  private static final long KEEPALIVE_TIMEOUT_SECONDS = 3;
  // Below the 10 s that a requester's pings are apart.
  private static final long TOLERATED_KEEPALIVE_SECONDS = 5;
  private static final int STREAMS_PER_CONNECTION = 4;
  private static final long STOP_MILLIS = 2_000;

  /** For a peer that runs to read why its stream ends; one that does not is cut then. */
  private static final long READ_MILLIS = 500;

  private final ControlService service;
  private final ControlLoop loop = new ControlLoop("orbitkv-control-server");
  private final Set<ControlSession> sessions = ConcurrentHashMap.newKeySet();
  private final Server server;
  private volatile boolean stopping;
  private volatile int port;

  private ControlServer(
      InetSocketAddress listen, ControlService service, ControlSecurity security) {
    this.service = service;
    this.server =
        NettyServerBuilder.forAddress(listen, security.server())
            .bossEventLoopGroup(loop.group())
            .workerEventLoopGroup(loop.group())
            .channelType(NioServerSocketChannel.class)
            .directExecutor()
            .maxInboundMessageSize(ControlLimits.MAX_MESSAGE_BYTES)
            .maxConcurrentCallsPerConnection(STREAMS_PER_CONNECTION)
            .keepAliveTime(KEEPALIVE_SECONDS, TimeUnit.SECONDS)
            .keepAliveTimeout(KEEPALIVE_TIMEOUT_SECONDS, TimeUnit.SECONDS)
            .permitKeepAliveTime(TOLERATED_KEEPALIVE_SECONDS, TimeUnit.SECONDS)
            .permitKeepAliveWithoutCalls(true)
            .maxConnectionIdle(ControlLimits.IDLE_CONNECTION_MILLIS, TimeUnit.MILLISECONDS)
            .intercept(new StreamLimits())
            .addService(new Streams())
            .build();
  }

  /**
   * Starts to listen.
   *
   * @param listen address and port; port 0 for any free one
   * @param service who answers; called on the server's thread, must not block
   * @throws TransportException DEVICE if it can not listen there
   */
  public static ControlServer start(
      InetSocketAddress listen, ControlService service, ControlSecurity security) {
    checkResolved(listen);
    ControlServer started = new ControlServer(listen, service, security);
    try {
      started.port = started.server.start().getPort();
      return started;
    } catch (IOException e) {
      started.loop.stop();
      throw occupied(listen, e);
    }
  }

  /**
   * Whether a server could listen there now, to be asked before something costly is begun: a socket
   * is bound and closed. What is free now need not be at {@link #start}.
   *
   * @throws TransportException as {@link #start}
   */
  public static void checkFree(InetSocketAddress listen) {
    checkResolved(listen);
    // Of NIO, whose sockets have SO_REUSEADDR as the server's.
    try (ServerSocketChannel probe = ServerSocketChannel.open()) {
      probe.bind(listen);
    } catch (IOException e) {
      throw occupied(listen, e);
    }
  }

  private static void checkResolved(InetSocketAddress listen) {
    if (listen.isUnresolved()) {
      throw new TransportException(
          FaultCode.INVALID,
          "control server can not listen on %s: no such host; give an address of this host"
              .formatted(listen.getHostString()));
    }
  }

  private static TransportException occupied(InetSocketAddress listen, IOException e) {
    Throwable cause = e.getCause() == null ? e : e.getCause();
    return new TransportException(
        FaultCode.DEVICE,
        "control server can not listen on %s: %s; give another port (0 for any free one) or stop what listens there"
            .formatted(ControlAddress.of(listen), cause.getMessage()),
        e);
  }

  /** The port that was bound. */
  public int port() {
    return port;
  }

  /**
   * Tells a peer that this Manager retired a grant of it by itself; nothing if it has no stream.
   */
  public void announceRevoked(Epoch requesterManager, GrantId grant) {
    for (ControlSession session : sessions) {
      if (session.isOf(requesterManager)) {
        session.announceRevoked(grant);
      }
    }
  }

  /** Tells every peer that this Manager's transport was replaced: its endpoint, epoch and bytes. */
  public void announceEndpoint(PeerHello self) {
    sessions.forEach(session -> session.announceEndpoint(self));
  }

  /**
   * Accepts no more streams, then ends those that are open: their peers are lost. Waits at most 7 s
   * for it. A second call is a no-op.
   */
  public void stop() {
    if (stopping) {
      return;
    }
    stopping = true;
    server.shutdown();
    loop.runAndWait(() -> sessions.forEach(session -> session.refuse(closing())));
    try {
      // A connection that is cut while its peer writes is reset, and the peer never reads why.
      if (!server.awaitTermination(READ_MILLIS, TimeUnit.MILLISECONDS)) {
        server.shutdownNow();
        server.awaitTermination(STOP_MILLIS, TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      server.shutdownNow();
      Thread.currentThread().interrupt();
    }
    loop.stop();
  }

  /** As {@link #stop}. */
  @Override
  public void close() {
    stop();
  }

  /** A peer with several streams is lost with the last. On the server's thread. */
  private void ended(ControlSession session) {
    PeerHello peer = session.peer();
    sessions.remove(session);
    if (peer != null && sessions.stream().noneMatch(other -> other.isOf(peer.managerEpoch()))) {
      service.peerLost(peer);
    }
  }

  private static TransportException closing() {
    return new TransportException(FaultCode.CLOSING, "this Manager is on its way down");
  }

  private final class Streams extends PeerControlGrpc.PeerControlImplBase {
    @Override
    public StreamObserver<ControlRequest> session(StreamObserver<ControlReply> replies) {
      ControlSession session =
          new ControlSession(
              service, (ServerCallStreamObserver<ControlReply>) replies, ControlServer.this::ended);
      sessions.add(session);
      if (stopping) {
        session.refuse(closing());
      } else {
        loop.runAfter(ControlLimits.HELLO_MILLIS, session::expectHello);
      }
      return session;
    }
  }
}
