package io.orbitkv.bench.channel;

import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Answers gRPC calls and streams on its event loop, on a free port of loopback. */
final class GrpcServerEnd implements AutoCloseable {
  private final Server server;

  private GrpcServerEnd(Server server) {
    this.server = server;
  }

  static GrpcServerEnd start() throws IOException {
    return new GrpcServerEnd(
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .directExecutor()
            .addService(
                ServerServiceDefinition.builder(GrpcMethods.SERVICE)
                    .addMethod(GrpcMethods.UNARY, ServerCalls.asyncUnaryCall(GrpcServerEnd::answer))
                    .addMethod(
                        GrpcMethods.STREAM, ServerCalls.asyncBidiStreamingCall(Requests::new))
                    .build())
            .build()
            .start());
  }

  private static void answer(byte[] request, StreamObserver<byte[]> answers) {
    answers.onNext(GrpcMethods.answer(request));
    answers.onCompleted();
  }

  private record Requests(StreamObserver<byte[]> answers) implements StreamObserver<byte[]> {
    @Override
    public void onNext(byte[] request) {
      answers.onNext(GrpcMethods.answer(request));
    }

    @Override
    public void onError(Throwable cause) {
      // The client has gone.
    }

    @Override
    public void onCompleted() {
      answers.onCompleted();
    }
  }

  String address() {
    return "127.0.0.1:" + server.getPort();
  }

  @Override
  public void close() {
    server.shutdownNow();
  }
}
