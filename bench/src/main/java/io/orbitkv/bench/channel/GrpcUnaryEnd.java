package io.orbitkv.bench.channel;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCalls;
import java.io.IOException;

/** One gRPC call for each round trip. */
final class GrpcUnaryEnd implements Exchange {
  private final ManagedChannel channel;
  private final byte[] message = new byte[MESSAGE_BYTES];

  GrpcUnaryEnd(String address) {
    channel = GrpcMethods.connect(address);
  }

  @Override
  public void exchange() throws IOException {
    message[0]++;
    GrpcMethods.check(
        message,
        ClientCalls.blockingUnaryCall(channel, GrpcMethods.UNARY, CallOptions.DEFAULT, message));
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
