package io.orbitkv.bench.channel;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One gRPC stream for all round trips; the waiting thread is woken by the event loop. */
final class GrpcStreamEnd implements Exchange {
  private final ManagedChannel channel;
  private final StreamObserver<byte[]> requests;
  private final byte[] message = new byte[MESSAGE_BYTES];
  private volatile @Nullable Thread waiting;
  private volatile byte @Nullable [] answer;
  private volatile @Nullable Throwable failure;

  GrpcStreamEnd(String address) {
    channel = GrpcMethods.connect(address);
    requests =
        ClientCalls.asyncBidiStreamingCall(
            channel.newCall(GrpcMethods.STREAM, CallOptions.DEFAULT), new Answers());
  }

  private final class Answers implements StreamObserver<byte[]> {
    @Override
    public void onNext(byte[] value) {
      answer = value;
      LockSupport.unpark(waiting);
    }

    @Override
    public void onError(Throwable cause) {
      failure = cause;
      LockSupport.unpark(waiting);
    }

    @Override
    public void onCompleted() {
      onError(new IOException("the server has ended the stream"));
    }
  }

  @Override
  public void exchange() throws IOException {
    message[0]++;
    answer = null;
    waiting = Thread.currentThread();
    requests.onNext(message);
    byte[] got = answer;
    while (got == null) {
      Throwable cause = failure;
      if (cause != null) {
        throw new IOException(cause);
      }
      LockSupport.park(this);
      got = answer;
    }
    GrpcMethods.check(message, got);
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
