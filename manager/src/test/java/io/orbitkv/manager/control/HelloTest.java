package io.orbitkv.manager.control;

import static io.orbitkv.manager.control.ControlPlane.at;
import static io.orbitkv.manager.control.ControlPlane.await;
import static io.orbitkv.manager.control.ControlPlane.take;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.grpc.StatusRuntimeException;
import io.orbitkv.api.FaultCode;
import io.orbitkv.manager.control.ControlPlane.RawStream;
import io.orbitkv.manager.control.ControlPlane.Requester;
import io.orbitkv.manager.control.proto.Authorize;
import io.orbitkv.manager.control.proto.Complete;
import io.orbitkv.manager.control.proto.ControlRequest;
import io.orbitkv.manager.control.proto.Hello;
import io.orbitkv.manager.control.proto.Locate;
import io.orbitkv.manager.control.proto.NameRun;
import io.orbitkv.manager.control.proto.Refusal;
import io.orbitkv.manager.membership.Member;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Whom a Manager talks to, and what it does with streams that break the protocol. */
class HelloTest {
  private final ControlPlane plane = new ControlPlane();
  private final ScriptedManager a = new ScriptedManager("a:1");
  private final ScriptedManager b = new ScriptedManager("b:2");

  @AfterEach
  void close() {
    plane.close();
  }

  @Test
  void anotherVersionIsRefusedNamingBoth() {
    RawStream stream = plane.raw(plane.server(b).port());
    stream.requests().onNext(hello(ControlCodec.encode(a.self).toBuilder().setControlVersion(9)));
    Refusal refusal = stream.reply().getRefusal();
    assertThat(FaultCode.ofWire(refusal.getCode())).isEqualTo(FaultCode.UNSUPPORTED);
    assertThat(refusal.getMessage()).contains("a:1 speaks version 9", "b:2 speaks version 1");
    assertThat(take(stream.replies())).isEqualTo("completed");
    assertThat(b.accepted).isEmpty();
  }

  @Test
  void anotherBackendIsRefusedNamingBothAndLoggedOnce() {
    Queue<ILoggingEvent> logged = new ConcurrentLinkedQueue<>();
    AppenderBase<ILoggingEvent> appender =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            logged.add(event);
          }
        };
    appender.start();
    Logger logger = (Logger) LoggerFactory.getLogger(AddressLink.class);
    logger.setLevel(Level.WARN);
    logger.addAppender(appender);
    try {
      ScriptedManager other = new ScriptedManager("c:3", "mooncake");
      String address = at(plane.server(other));
      Requester requester = plane.requester(a, address);
      await("a warning", () -> logged.stream().anyMatch(e -> e.getLevel() == Level.WARN));
      // News of the member make it try again before the 10 s are over: refused again, silently.
      AtomicInteger news = new AtomicInteger();
      await(
          "a second refusal",
          () -> {
            Member member = new Member(address, "news" + news.getAndIncrement());
            requester.links().setMembers(Set.of(member));
            return other.refusals.get() >= 2;
          });
      assertThat(logged.stream().filter(e -> e.getLevel() == Level.WARN))
          .singleElement()
          .satisfies(
              e ->
                  assertThat(e.getFormattedMessage())
                      .contains("a:1 uses orbitte-tcp", "c:3 uses mooncake"));
      assertThat(requester.links().up()).isEmpty();
      assertThat(requester.events()).isEmpty();
      assertThat(other.accepted).isEmpty();
    } finally {
      logger.detachAppender(appender);
      logger.setLevel(null);
    }
  }

  @Test
  void unknownFieldsAreSkipped() {
    RawStream stream = plane.raw(plane.server(b).port());
    UnknownFieldSet newer =
        UnknownFieldSet.newBuilder()
            .addField(900, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
            .build();
    stream
        .requests()
        .onNext(hello(ControlCodec.encode(a.self).toBuilder().setUnknownFields(newer)));
    assertThat(stream.reply().getHello().getManagerName()).isEqualTo("b:2");
    stream
        .requests()
        .onNext(ControlRequest.newBuilder().setCorrelation(2).setUnknownFields(newer).build());
    assertThat(FaultCode.ofWire(stream.reply().getRefusal().getCode()))
        .isEqualTo(FaultCode.UNSUPPORTED);
  }

  @Test
  void theFirstRequestMustBeHelloAndOnlyThat() {
    ControlServer server = plane.server(b);
    RawStream rude = plane.raw(server.port());
    rude.requests()
        .onNext(ControlRequest.newBuilder().setLocate(Locate.getDefaultInstance()).build());
    assertThat(rude.reply().getRefusal().getMessage()).contains("must be Hello");
    assertThat(take(rude.replies())).isEqualTo("completed");

    RawStream twice = greeted(server);
    twice.requests().onNext(hello(ControlCodec.encode(a.self).toBuilder()));
    assertThat(twice.reply().getRefusal().getMessage()).contains("was said before");
  }

  @Test
  void malformedRequestsAreRefusedAndTheStreamLivesOn() {
    RawStream stream = greeted(plane.server(b));
    stream
        .requests()
        .onNext(
            ControlRequest.newBuilder()
                .setCorrelation(5)
                .setAuthorize(Authorize.getDefaultInstance())
                .build());
    assertRefused(stream, "0 bytes, an epoch has 16");
    stream
        .requests()
        .onNext(
            ControlRequest.newBuilder()
                .setCorrelation(5)
                .setComplete(Complete.newBuilder().setEvidence(77))
                .build());
    assertRefused(stream, "unknown evidence number 77");
    stream.requests().onNext(locate(NameRun.newBuilder().addHashes(ByteString.EMPTY)));
    assertRefused(stream, "block hash of 0 bytes");
    NameRun.Builder many = NameRun.newBuilder();
    for (int i = 0; i < 65_537; i++) {
      many.addHashes(ByteString.copyFromUtf8("x"));
    }
    stream.requests().onNext(locate(many));
    assertRefused(stream, "65537 names");
    assertThat(b.requests).isEmpty();
    assertThat(b.completions).isEmpty();
    stream.requests().onNext(locate(NameRun.newBuilder().addHashes(ByteString.copyFromUtf8("x"))));
    assertThat(stream.reply().getLocated().getBytesList()).containsExactly(4_096L);
  }

  @Test
  void helloIsBounded() {
    RawStream stream = plane.raw(plane.server(b).port());
    stream
        .requests()
        .onNext(
            hello(
                ControlCodec.encode(a.self).toBuilder()
                    .setPeerBytes(ByteString.copyFrom(new byte[4_097]))));
    assertThat(stream.reply().getRefusal().getMessage()).contains("4097", "the limit is 4096");
  }

  @Test
  void anOversizedMessageEndsItsStreamOnly() throws Exception {
    ControlServer server = plane.server(b);
    Requester other = plane.requester(new ScriptedManager("c:3"), at(server));
    PeerLink link = other.next("up").link();
    RawStream stream = greeted(server);
    stream
        .requests()
        .onNext(locate(NameRun.newBuilder().addHashes(ByteString.copyFrom(new byte[17 << 20]))));
    assertThat(take(stream.replies())).isInstanceOf(StatusRuntimeException.class);
    assertThat(take(b.lost).managerName()).isEqualTo("a:1");
    assertThat(link.locate(List.of(ControlPlane.block(1))).get()).hasSize(1);
  }

  @Test
  @Tag("slow")
  void whoSaysNothingIsSentAway() {
    RawStream stream = plane.raw(plane.server(b).port());
    assertThat(stream.reply().getRefusal().getMessage()).contains("no Hello within 5000 ms");
    assertThat(take(stream.replies())).isEqualTo("completed");
  }

  private RawStream greeted(ControlServer server) {
    RawStream stream = plane.raw(server.port());
    stream.requests().onNext(hello(ControlCodec.encode(a.self).toBuilder()));
    assertThat(stream.reply().hasHello()).isTrue();
    return stream;
  }

  private static void assertRefused(RawStream stream, String text) {
    var reply = stream.reply();
    assertThat(reply.getCorrelation()).isEqualTo(5);
    assertThat(FaultCode.ofWire(reply.getRefusal().getCode())).isEqualTo(FaultCode.INVALID);
    assertThat(reply.getRefusal().getMessage()).contains(text);
  }

  private static ControlRequest hello(Hello.Builder hello) {
    return ControlRequest.newBuilder().setCorrelation(5).setHello(hello).build();
  }

  private static ControlRequest locate(NameRun.Builder names) {
    return ControlRequest.newBuilder()
        .setCorrelation(5)
        .setLocate(Locate.newBuilder().addNames(names))
        .build();
  }
}
