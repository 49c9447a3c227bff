package io.orbitkv.systemtests.rig;

import com.google.protobuf.ByteString;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.orbitkv.api.Epoch;
import io.orbitkv.manager.control.proto.ControlReply;
import io.orbitkv.manager.control.proto.ControlRequest;
import io.orbitkv.manager.control.proto.Hello;
import io.orbitkv.manager.control.proto.PeerControlGrpc;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/** A control server that says Hello with another backend or version than a Manager of today. */
public final class StrangePeer implements AutoCloseable {
  /** What Managers of today speak. */
  public static final int CONTROL_VERSION = 1;

  private final String provider;
  private final int version;
  private final Server server;
  private final AtomicInteger asked = new AtomicInteger();

  private StrangePeer(String provider, int version) throws IOException {
    this.provider = provider;
    this.version = version;
    this.server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0))
            .addService(new Service())
            .build()
            .start();
  }

  /** Starts one. */
  public static StrangePeer start(String provider, int version) throws IOException {
    return new StrangePeer(provider, version);
  }

  /** Where it listens, {@code host:port}. */
  public String address() {
    return "127.0.0.1:" + server.getPort();
  }

  /** How many requests came that were no Hello. */
  public int asked() {
    return asked.get();
  }

  @Override
  public void close() {
    server.shutdownNow();
  }

  private Hello hello() {
    return Hello.newBuilder()
        .setControlVersion(version)
        .setManagerEpoch(epoch())
        .setManagerName("strange")
        .setControlAddress(address())
        .setProvider(provider)
        .setTransportEpoch(epoch())
        .setEndpoint("orbitte+tcp://" + address())
        .build();
  }

  private static ByteString epoch() {
    ByteBuffer bytes = ByteBuffer.allocate(Epoch.BYTES);
    Epoch.random().write(bytes);
    return ByteString.copyFrom(bytes.flip());
  }

  private final class Service extends PeerControlGrpc.PeerControlImplBase {
    @Override
    public StreamObserver<ControlRequest> session(StreamObserver<ControlReply> replies) {
      return new StreamObserver<>() {
        @Override
        public void onNext(ControlRequest request) {
          if (request.hasHello()) {
            replies.onNext(
                ControlReply.newBuilder()
                    .setCorrelation(request.getCorrelation())
                    .setHello(hello())
                    .build());
          } else {
            asked.incrementAndGet();
          }
        }

        @Override
        public void onError(Throwable cause) {}

        @Override
        public void onCompleted() {
          replies.onCompleted();
        }
      };
    }
  }
}
