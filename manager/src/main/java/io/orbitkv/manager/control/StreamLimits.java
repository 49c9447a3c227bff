package io.orbitkv.manager.control;

import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Refuses a stream beyond the bounds of its remote address or of the server, so that one host can
 * not take the place of all others. Thread-safe.
 */
final class StreamLimits implements ServerInterceptor {
  private final Map<InetAddress, Integer> open = new HashMap<>();
  private int all;

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    InetAddress remote = remote(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
    String refusal = take(remote);
    if (!refusal.isEmpty()) {
      call.close(Status.RESOURCE_EXHAUSTED.withDescription(refusal), new Metadata());
      return new ServerCall.Listener<>() {};
    }
    boolean started = false;
    try {
      ServerCall.Listener<Q> listener = next.startCall(call, headers);
      started = true;
      return new SimpleForwardingServerCallListener<>(listener) {
        // gRPC calls exactly one of the two, once.
        @Override
        public void onCancel() {
          give(remote);
          super.onCancel();
        }

        @Override
        public void onComplete() {
          give(remote);
          super.onComplete();
        }
      };
    } finally {
      if (!started) {
        give(remote);
      }
    }
  }

  /** The reason of the refusal, or nothing. */
  private synchronized String take(InetAddress remote) {
    int its = open.getOrDefault(remote, 0);
    int most =
        remote.isLoopbackAddress()
            ? ControlLimits.MAX_STREAMS_OF_LOOPBACK
            : ControlLimits.MAX_STREAMS_PER_ADDRESS;
    if (its >= most) {
      return "%d control streams from %s are open, the most it may have; end one of them"
          .formatted(its, remote.getHostAddress());
    }
    if (all >= ControlLimits.MAX_STREAMS) {
      return "all %d control streams of this Manager are taken; end one of them".formatted(all);
    }
    open.put(remote, its + 1);
    all++;
    return "";
  }

  private synchronized void give(InetAddress remote) {
    all--;
    open.computeIfPresent(remote, (_, its) -> its == 1 ? null : its - 1);
  }

  /** All of loopback is one remote. */
  private static InetAddress remote(@Nullable SocketAddress address) {
    InetAddress remote =
        address instanceof InetSocketAddress inet ? inet.getAddress() : InetAddress.ofLiteral("::");
    return remote.isLoopbackAddress() ? InetAddress.getLoopbackAddress() : remote;
  }
}
