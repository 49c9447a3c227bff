package io.orbitkv.manager.control;

import static io.orbitkv.manager.control.ControlPlane.at;
import static io.orbitkv.manager.control.ControlPlane.await;
import static io.orbitkv.manager.control.ControlPlane.take;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.netty.util.internal.PlatformDependent;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.ControlPlane.RawStream;
import io.orbitkv.manager.control.ControlPlane.Requester;
import io.orbitkv.manager.control.proto.ControlReply;
import io.orbitkv.manager.control.proto.ControlRequest;
import io.orbitkv.manager.control.proto.Locate;
import io.orbitkv.manager.control.proto.NameRun;
import io.orbitkv.manager.control.proto.PeerControlGrpc;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Peers that do not read, ask for too much, or come too often. */
class SlowPeerTest {
  private final ControlPlane plane = new ControlPlane();
  private final ScriptedManager a = new ScriptedManager("a:1");
  private final ScriptedManager b = new ScriptedManager("b:2");

  @AfterEach
  void close() {
    plane.close();
  }

  /** Says Hello, answers pings, and reads nothing more. */
  private Server deafOwner() throws Exception {
    return NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
        .addService(
            new PeerControlGrpc.PeerControlImplBase() {
              @Override
              public StreamObserver<ControlRequest> session(StreamObserver<ControlReply> replies) {
                var calls = (ServerCallStreamObserver<ControlReply>) replies;
                calls.disableAutoRequest();
                calls.request(1);
                return new StreamObserver<>() {
                  @Override
                  public void onNext(ControlRequest request) {
                    replies.onNext(
                        ControlReply.newBuilder()
                            .setCorrelation(request.getCorrelation())
                            .setHello(ControlCodec.encode(b.self))
                            .build());
                  }

                  @Override
                  public void onError(Throwable cause) {}

                  @Override
                  public void onCompleted() {}
                };
              }
            })
        .build()
        .start();
  }

  @Test
  void anOwnerThatDoesNotReadIsLostAndCostsBoundedMemory() throws Exception {
    List<BlockName> names = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      names.add(
          BlockName.of("model", ("a block of some name " + i).getBytes(StandardCharsets.UTF_8)));
    }
    Server deaf = deafOwner();
    try {
      Requester requester =
          plane.requester(
              a, Duration.ofMillis(50), ControlSecurity.plaintext(), "127.0.0.1:" + deaf.getPort());
      PeerLink link = requester.next("up").link();
      long before = directMemory();
      long peak = before;
      int sent = 0;
      int refused = 0;
      // About 0.7 MB each, and none waits for its answer longer than 100 ms.
      while (requester.events().isEmpty() && sent + refused < 2_000) {
        peak = Math.max(peak, directMemory());
        try {
          link.locate(names).get(20, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
          FaultCode code =
              e.getCause() instanceof TransportException fault ? fault.code() : FaultCode.INTERNAL;
          refused += code == FaultCode.EXHAUSTED ? 1 : 0;
          sent += code == FaultCode.PEER_LOST ? 1 : 0;
          LockSupport.parkNanos(code == FaultCode.EXHAUSTED ? 20_000_000 : 0);
        }
      }
      long grown = peak - before;
      System.out.printf("deaf owner: %d sent, %d refused, %,d bytes grown%n", sent, refused, grown);
      assertThat(refused).isPositive();
      assertThat(grown).isLessThan(48L << 20);
      assertThat(requester.next("down").detail()).contains("read nothing for 5000 ms");
    } finally {
      deaf.shutdownNow();
    }
  }

  @Test
  void manyRequestsAtOnceToAnOwnerThatReadsAreAllAnswered() throws Exception {
    Requester requester = plane.requester(a, at(plane.server(b)));
    PeerLink link = requester.next("up").link();
    List<BlockName> names = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      names.add(BlockName.of("model", new byte[] {1, (byte) i, (byte) (i >> 8)}));
    }
    List<java.util.concurrent.CompletableFuture<long[]>> asked = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      asked.add(link.locate(names));
    }
    for (var answer : asked) {
      assertThat(answer.get(20, TimeUnit.SECONDS)).hasSize(10_000);
    }
  }

  @Test
  void namesThatRepeatAreAskedForOnceAndAnsweredEachTime() throws Exception {
    PeerLink link = plane.requester(a, at(plane.server(b))).next("up").link();
    BlockName here = ControlPlane.block(1);
    BlockName gone = ControlPlane.block(0);
    assertThat(link.locate(List.of(here, gone, here, here)).get(20, TimeUnit.SECONDS))
        .containsExactly(4_096, -1, 4_096, 4_096);
  }

  @Test
  void anOwnerRefusesNamesThatRepeatAndTooManyOfThem() {
    int port = plane.server(b).port();
    RawStream stream = plane.raw(port);
    stream
        .requests()
        .onNext(
            ControlRequest.newBuilder()
                .setCorrelation(1)
                .setHello(ControlCodec.encode(a.self))
                .build());
    assertThat(stream.reply().hasHello()).isTrue();
    NameRun twice = WireValues.encode(Collections.nCopies(2, ControlPlane.block(1)), 2).getFirst();
    stream
        .requests()
        .onNext(
            ControlRequest.newBuilder()
                .setCorrelation(2)
                .setLocate(Locate.newBuilder().addNames(twice))
                .build());
    assertThat(stream.reply().getRefusal().getMessage()).contains("is in it before");

    PeerLink link = plane.requester(a, "127.0.0.1:" + port).next("up").link();
    GrantRequest many =
        new GrantRequest(
            new TicketId(1, a.epoch),
            a.self.transportEpoch(),
            b.self.transportEpoch(),
            Collections.nCopies(16_385, ControlPlane.block(1)));
    assertThatThrownBy(() -> link.authorize(many).get(20, TimeUnit.SECONDS))
        .hasMessageContaining("16385 names in one request; ask for at most 16384");
    GrantRequest repeating =
        new GrantRequest(
            new TicketId(2, a.epoch),
            a.self.transportEpoch(),
            b.self.transportEpoch(),
            Collections.nCopies(2, ControlPlane.block(1)));
    assertThatThrownBy(() -> link.authorize(repeating).get(20, TimeUnit.SECONDS))
        .hasMessageContaining("is in it before");
    assertThat(b.requests).isEmpty();
  }

  @Test
  void oneAddressHasABoundedNumberOfStreams() {
    int port = plane.server(b).port();
    List<RawStream> open = new ArrayList<>();
    for (int i = 0; i < ControlLimits.MAX_STREAMS_OF_LOOPBACK; i++) {
      open.add(greeted(port));
    }
    RawStream surplus = plane.raw(port);
    assertThat(String.valueOf(take(surplus.replies())))
        .contains("RESOURCE_EXHAUSTED", "256 control streams from");
    open.getFirst().requests().onCompleted();
    assertThat(take(open.getFirst().replies())).isEqualTo("completed");
    await(
        "its place is free",
        () -> {
          RawStream again = plane.raw(port);
          again.requests().onNext(hello());
          return take(again.replies()) instanceof ControlReply;
        });
  }

  @Test
  void aPortInUseIsFoundBeforeTheStart() {
    ControlServer server = plane.server(b);
    InetSocketAddress taken =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port());
    assertThatThrownBy(() -> ControlServer.checkFree(taken))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("127.0.0.1:" + server.port() + ": Address already in use")
        .hasMessageContaining("give another port");
    server.stop();
    ControlServer.checkFree(taken);
    assertThatThrownBy(
            () ->
                ControlServer.checkFree(
                    new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 0)))
        .hasMessageContaining("192.0.2.1:0");
  }

  /** Netty's and the JVM's, bytes. */
  private static long directMemory() {
    long ofJvm =
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum();
    return Math.max(ofJvm, 0) + Math.max(PlatformDependent.usedDirectMemory(), 0);
  }

  private RawStream greeted(int port) {
    RawStream stream = plane.raw(port);
    stream.requests().onNext(hello());
    assertThat(stream.reply().hasHello()).isTrue();
    return stream;
  }

  private ControlRequest hello() {
    return ControlRequest.newBuilder()
        .setCorrelation(1)
        .setHello(ControlCodec.encode(a.self))
        .build();
  }
}
