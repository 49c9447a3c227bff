package io.orbitkv.manager.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TicketId;
import io.orbitkv.manager.control.proto.ControlReply;
import io.orbitkv.manager.control.proto.ControlRequest;
import io.orbitkv.manager.control.proto.PeerControlGrpc;
import io.orbitkv.manager.membership.ControlAddress;
import io.orbitkv.manager.membership.Member;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Servers, links and raw streams of one test, over loopback; ended in reverse order. */
final class ControlPlane implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(20);

  /** What a listener was told. */
  record Event(String kind, PeerLink link, PeerHello hello, String detail) {}

  /** Links, and what their listener was told. */
  record Requester(PeerLinks links, BlockingQueue<Event> events) {
    Event next(String kind) {
      Event event = take(events);
      assertThat(event.kind()).as("%s", event).isEqualTo(kind);
      return event;
    }
  }

  /** A stream without any of our code on the requester's side. */
  record RawStream(StreamObserver<ControlRequest> requests, BlockingQueue<Object> replies) {
    ControlReply reply() {
      Object reply = take(replies);
      assertThat(reply).isInstanceOf(ControlReply.class);
      return (ControlReply) reply;
    }
  }

  private final Deque<Runnable> opened = new ArrayDeque<>();

  ControlServer server(ScriptedManager owner) {
    return server(owner, "127.0.0.1", 0);
  }

  ControlServer server(ScriptedManager owner, String host, int port) {
    return server(owner, host, port, ControlSecurity.plaintext());
  }

  ControlServer server(ScriptedManager owner, String host, int port, ControlSecurity security) {
    ControlServer server = ControlServer.start(new InetSocketAddress(host, port), owner, security);
    opened.push(server::stop);
    return server;
  }

  Requester requester(ScriptedManager self, String... addresses) {
    return requester(self, Duration.ofSeconds(10), ControlSecurity.plaintext(), addresses);
  }

  Requester requester(
      ScriptedManager self, Duration timeout, ControlSecurity security, String... addresses) {
    BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    PeerListener listener =
        new PeerListener() {
          @Override
          public void peerUp(PeerLink link, PeerHello hello) {
            events.add(new Event("up", link, hello, ""));
          }

          @Override
          public void peerDown(PeerLink link, PeerHello hello, String reason) {
            events.add(new Event("down", link, hello, reason));
          }

          @Override
          public void grantRevoked(PeerLink link, GrantId grant) {
            events.add(new Event("revoked", link, link.hello().orElseThrow(), grant.toString()));
          }
        };
    PeerLinks links = new PeerLinks(self, listener, security, timeout);
    opened.push(links::close);
    links.setMembers(members(addresses));
    return new Requester(links, events);
  }

  RawStream raw(int port) {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", port)
            .usePlaintext()
            .maxInboundMessageSize(64 << 20)
            .build();
    opened.push(channel::shutdownNow);
    BlockingQueue<Object> replies = new LinkedBlockingQueue<>();
    StreamObserver<ControlRequest> requests =
        PeerControlGrpc.newStub(channel)
            .session(
                new StreamObserver<>() {
                  @Override
                  public void onNext(ControlReply reply) {
                    replies.add(reply);
                  }

                  @Override
                  public void onError(Throwable cause) {
                    replies.add(cause);
                  }

                  @Override
                  public void onCompleted() {
                    replies.add("completed");
                  }
                });
    return new RawStream(requests, replies);
  }

  static Set<Member> members(String... addresses) {
    Set<Member> members = new HashSet<>();
    for (String address : addresses) {
      members.add(new Member(address, ""));
    }
    return members;
  }

  static String at(ControlServer server) {
    return new ControlAddress("127.0.0.1", server.port()).toString();
  }

  static BlockName block(int... hash) {
    byte[] bytes = new byte[hash.length];
    for (int i = 0; i < hash.length; i++) {
      bytes[i] = (byte) hash[i];
    }
    return BlockName.of("model/layout", bytes);
  }

  static GrantRequest ask(ScriptedManager requester, long ticket, PeerHello owner) {
    return new GrantRequest(
        new TicketId(ticket, requester.epoch),
        requester.self.transportEpoch(),
        owner.transportEpoch(),
        List.of(block(1, 1), block(0, 2), BlockName.of("other", new byte[] {3})));
  }

  static <T> T take(BlockingQueue<T> queue) {
    try {
      T taken = queue.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(taken).as("came within %s", PATIENCE).isNotNull();
      return taken;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).as(what).isNegative();
      LockSupport.parkNanos(2_000_000);
    }
  }

  @Override
  public void close() {
    opened.forEach(Runnable::run);
  }
}
