package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Cursor;
import io.orbitkv.adapter.wire.Frame;
import io.orbitkv.adapter.wire.FrameHeader;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.MemoryOffer;
import io.orbitkv.adapter.wire.Names;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.PublishEntry;
import io.orbitkv.adapter.wire.PublishStatus;
import io.orbitkv.adapter.wire.RegistrationId;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.EventFd;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.Shutdown;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a session owes its client, frame by frame. */
final class SessionTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final BlockName NAME =
      BlockName.of("model", "block".getBytes(StandardCharsets.UTF_8));

  private Path socket;
  private ReferenceBlocks blocks;
  private LocalServer server;

  @BeforeEach
  void start(@TempDir Path directory) {
    socket = directory.resolve("m.sock");
    blocks = new ReferenceBlocks(1 << 20);
    server = LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks);
  }

  @AfterEach
  void stop() {
    server.close();
    blocks.close();
  }

  private static Fd memory(long bytes) {
    Fd memfd = Memfd.create("orbitkv-engine", bytes);
    Memfd.addSeals(memfd, Memfd.F_SEAL_SHRINK);
    return memfd;
  }

  private static MemorySegment offer(long offset, long bytes) {
    return new MemoryOffer(MemoryOffer.HOST_SHARED, offset, bytes).encode();
  }

  private static RegistrationId register(Channel channel, Fd memfd, long bytes) {
    Frame answer = channel.call(FrameKind.REGISTER, 1, offer(0, bytes), memfd);
    assertThat(answer.is(FrameKind.REGISTERED)).isTrue();
    return RegistrationId.decode(answer.body());
  }

  private static byte[] piece(RegistrationId id, long offset, long bytes) {
    return PublishEntry.encode(
        List.of(new PublishEntry(NAME, id.id(), id.generation(), offset, bytes)));
  }

  private static PublishStatus published(Taken answer) {
    assertThat(answer.command().opcode()).isEqualTo(Opcode.PUBLISH_ANSWER.wire());
    return PublishStatus.decode(new Cursor("answer", answer.descriptor())).getFirst();
  }

  private static PublishStatus publish(Channel channel, byte[] descriptor) {
    channel.sendCommand(Opcode.PUBLISH, 7, descriptor, 0, 0);
    return published(channel.nextAnswer());
  }

  private static FaultCode fault(Command command) {
    assertThat(command.opcode()).isEqualTo(Opcode.REFUSAL.wire());
    return FaultCode.ofWire((int) command.scalar0());
  }

  @Test
  void aRegistrationIsCheckedBeforeItIsMapped() {
    long before = Channel.engineMappings();
    try (Channel channel = Channel.open(socket);
        Fd sealed = memory(8_192);
        Fd unsealed = Memfd.create("orbitkv-engine", 8_192);
        EventFd event = EventFd.create()) {
      // Guard: each line is one check of EngineMemories or LifecycleFrames.
      assertRefused(
          channel.call(FrameKind.REGISTER, 1, offer(0, 8_192), unsealed), "F_SEAL_SHRINK");
      assertRefused(channel.call(FrameKind.REGISTER, 1, offer(0, 8_192), event.fd()), "no memfd");
      assertRefused(channel.call(FrameKind.REGISTER, 1, offer(0, 8_193), sealed), "leave");
      assertRefused(channel.call(FrameKind.REGISTER, 1, offer(0, 0), sealed), "at least 1");
      assertRefused(channel.call(FrameKind.REGISTER, 1, offer(1, 8), sealed), "multiple");
      assertRefused(channel.call(FrameKind.REGISTER, 1, offer(-4_096, 8), sealed), "multiple");
      assertRefused(
          channel.call(FrameKind.REGISTER, 1, offer(4_096, Long.MAX_VALUE), sealed), "limit");
      assertRefused(channel.call(FrameKind.REGISTER, 1, offer(0, 8_192)), "one memfd");
      assertRefused(
          channel.call(FrameKind.REGISTER, 1, offer(0, 8_192), sealed, sealed), "one memfd");
      assertRefused(
          channel.call(FrameKind.REGISTER, 1, new MemoryOffer(2, 0, 8_192).encode(), sealed),
          "CUDA");
      assertThat(Channel.engineMappings()).isEqualTo(before);

      RegistrationId id = register(channel, sealed, 4_096);
      assertRefused(channel.call(FrameKind.REGISTER, 1, offer(0, 8_192), sealed), "overlaps");
      assertThat(channel.call(FrameKind.UNREGISTER, 2, id.encode()).is(FrameKind.UNREGISTERED))
          .isTrue();
      assertThat(Channel.engineMappings()).isEqualTo(before);
    }
  }

  private static void assertRefused(Frame frame, String reason) {
    assertThat(Channel.refusal(frame).text()).contains(reason);
  }

  @Test
  void aBlockCanNotBindToALaterRegistration() {
    try (Channel channel = Channel.open(socket);
        Fd memfd = memory(4_096)) {
      RegistrationId first = register(channel, memfd, 4_096);
      channel.call(FrameKind.UNREGISTER, 2, first.encode());
      assertThat(publish(channel, piece(first, 0, 4_096)).code()).isEqualTo(FaultCode.NOT_FOUND);
      RegistrationId second = register(channel, memfd, 4_096);
      assertThat(second.id()).isEqualTo(first.id());
      // Guard: the generation check of EngineMemories.find.
      assertThat(publish(channel, piece(first, 0, 4_096)).code())
          .isEqualTo(FaultCode.STALE_GENERATION);
      assertThat(publish(channel, piece(second, 0, 4_096)).status())
          .isEqualTo(PublishStatus.STORED);
    }
  }

  @Test
  void aRangeOutsideTheRegistrationIsRefused() {
    try (Channel channel = Channel.open(socket);
        Fd memfd = memory(8_192)) {
      RegistrationId id = register(channel, memfd, 4_096);
      long[][] ranges = {
        {0, 4_097},
        {4_096, 1},
        {1, 4_096},
        {-1, 1},
        {0, -1},
        {0, 0},
        {Long.MAX_VALUE, 2},
        {1L << 62, 1L << 62},
        {8, Long.MAX_VALUE}
      };
      for (long[] range : ranges) {
        assertThat(publish(channel, piece(id, range[0], range[1])).code())
            .as("%d bytes at %d", range[1], range[0])
            .isEqualTo(FaultCode.INVALID);
      }
      assertThat(publish(channel, piece(id, 4_095, 1)).status()).isEqualTo(PublishStatus.STORED);
    }
  }

  @Test
  void memoryIsWithdrawnAfterTheCopyThatReadsIt() {
    CountDownLatch gate = new CountDownLatch(1);
    try (Channel channel = Channel.open(socket);
        Fd memfd = memory(4_096)) {
      long before = Channel.engineMappings();
      RegistrationId id = register(channel, memfd, 4_096);
      blocks.gate(gate);
      channel.sendCommand(Opcode.PUBLISH, 7, piece(id, 0, 4_096), 0, 0);
      Channel.await("the copy is under way", () -> blocks.publishing() == 1);
      channel.frames.send(FrameKind.UNREGISTER, 8, id.encode());
      assertThat(channel.call(FrameKind.HEALTH, 9, Channel.EMPTY).is(FrameKind.HEALTH_STATE))
          .isTrue();
      // Guard: the use count of SharedMapping.
      assertThat(Channel.engineMappings()).isEqualTo(before + 1);
      gate.countDown();
      assertThat(channel.nextAnswer().command().requestId()).isEqualTo(7);
      assertThat(channel.next().header().requestId()).isEqualTo(8);
      assertThat(Channel.engineMappings()).isEqualTo(before);
    }
  }

  @Test
  void pendingQueriesAreLimitedAndTheirPlacesComeBack() {
    byte[] names = Names.encode(List.of(NAME));
    blocks.holdReads();
    try (Channel channel = Channel.open(socket)) {
      for (int i = 1; i <= 128; i++) {
        channel.sendCommand(Opcode.QUERY, i, names, SECOND, 0);
      }
      Command refused = channel.command(Opcode.QUERY, 129, names, SECOND, 0);
      assertThat(refused.requestId()).isEqualTo(129);
      assertThat(fault(refused)).isEqualTo(FaultCode.EXHAUSTED);
      assertThat(blocks.heldReads()).isEqualTo(128);
      blocks.answerReads(channel.welcome().session(), List.of(NAME));
      Set<Long> answered = new HashSet<>();
      for (int i = 1; i <= 128; i++) {
        answered.add(channel.nextAnswer().command().requestId());
      }
      assertThat(answered).hasSize(128);
      assertThat(channel.command(Opcode.QUERY, 130, names, SECOND, 0).opcode())
          .isEqualTo(Opcode.QUERY_ANSWER.wire());
    }
  }

  @Test
  void aFrameThatArrivedWholeIsAnsweredWhileStopping() {
    CountDownLatch publishGate = new CountDownLatch(1);
    CountDownLatch statusGate = new CountDownLatch(1);
    try (Channel channel = Channel.open(socket);
        Fd memfd = memory(4_096)) {
      RegistrationId id = register(channel, memfd, 4_096);
      blocks.gate(publishGate);
      blocks.statusGate(statusGate);
      channel.sendCommand(Opcode.PUBLISH, 7, piece(id, 0, 4_096), 0, 0);
      Channel.await("the copy is under way", () -> blocks.publishing() == 1);
      channel.frames.send(FrameKind.STATUS, 8, Channel.EMPTY);
      Channel.await("the reader thread is held", () -> blocks.asking() == 1);
      channel.frames.send(FrameKind.HEALTH, 9, Channel.EMPTY);
      channel.sendRaw(new byte[] {1, 0, 8}); // a part of a frame
      Thread stopper = Thread.ofPlatform().start(() -> server.stop());
      Channel.await(
          "it waits for the answers",
          () -> !Files.exists(socket) && stopper.getState() == Thread.State.TIMED_WAITING);
      statusGate.countDown();
      assertThat(channel.next().is(FrameKind.STATUS_TEXT)).isTrue();
      // Guard: Shutdown.READ in stopReading(); with BOTH or close() none of these arrives.
      Frame health = channel.next();
      assertThat(health.is(FrameKind.HEALTH_STATE)).isTrue();
      assertThat(new Cursor("health", health.body()).u32()).isEqualTo(2);
      publishGate.countDown();
      assertThat(published(channel.nextAnswer()).status()).isEqualTo(PublishStatus.STORED);
      assertThat(endsWithoutAFrame(channel)).isTrue();
      Joining.join(stopper);
    }
  }

  /** Bytes that the server never took as a frame may reset the connection instead of ending it. */
  private static boolean endsWithoutAFrame(Channel channel) {
    try {
      return channel.ended();
    } catch (io.orbitkv.ffm.NativeException e) {
      return e.errnoName().equals("ECONNRESET");
    }
  }

  @Test
  void closeIsAnsweredAfterEverythingElse() {
    byte[] names = Names.encode(List.of(NAME));
    blocks.holdReads();
    try (Channel channel = Channel.open(socket)) {
      channel.sendCommand(Opcode.QUERY, 5, names, SECOND, 0);
      channel.frames.send(FrameKind.CLOSE, 6, Channel.EMPTY);
      Channel.await("the read arrives", () -> blocks.heldReads() == 1);
      blocks.answerReads(channel.welcome().session(), List.of(NAME));
      assertThat(channel.next().is(FrameKind.CLOSED)).isTrue();
      // Guard: LocalSession.endIfAnswered waits for the ring; then this answer is there by now.
      Taken answer = Objects.requireNonNull(channel.answerNow());
      assertThat(answer.command().requestId()).isEqualTo(5);
      assertThat(channel.ended()).isTrue();
    }
  }

  @Test
  void aHalfClosedClientStillGetsItsAnswer() {
    try (Channel channel = Channel.open(socket)) {
      channel.frames.send(FrameKind.STATUS, 8, Channel.EMPTY);
      channel.stream.shutdown(Shutdown.WRITE);
      assertThat(channel.next().is(FrameKind.STATUS_TEXT)).isTrue();
      assertThat(channel.ended()).isTrue();
    }
  }

  @Test
  void leasesOutliveTheSocketAndAnotherSessionOfTheProcessReleasesThem() {
    Channel first = Channel.open(socket);
    long token = first.welcome().session();
    long lease = storeAndLease(first);
    first.close();
    try (Channel second = Channel.open(socket)) {
      // Guard: SessionState.RETAINED; a closed socket must unpin nothing.
      assertThat(blocks.leases()).isEqualTo(1);
      assertThat(server.sessions()).isEqualTo(2);
      assertThat(fault(second.command(Opcode.RELEASE, 1, new byte[0], lease, 0)))
          .isEqualTo(FaultCode.NOT_FOUND);
      assertThat(fault(second.command(Opcode.RELEASE, 2, new byte[0], lease, token + 1)))
          .isEqualTo(FaultCode.NOT_FOUND);
      assertThat(second.command(Opcode.RELEASE, 3, new byte[0], lease, token).opcode())
          .isEqualTo(Opcode.RELEASE_ANSWER.wire());
      assertThat(blocks.leases()).isZero();
      Channel.await("the slot is free", () -> server.sessions() == 1);
      assertThat(fault(second.command(Opcode.RELEASE, 4, new byte[0], lease, token)))
          .isEqualTo(FaultCode.NOT_FOUND);
    }
  }

  @Test
  void aLeaseThatNobodyWasToldOfIsGivenBack() {
    Channel channel = Channel.open(socket);
    long token = channel.welcome().session();
    blocks.publish(NAME, MemorySegment.ofArray(new byte[10]), false);
    blocks.holdReads();
    channel.sendCommand(Opcode.QUERY, 5, Names.encode(List.of(NAME)), SECOND, 0);
    Channel.await("the read arrives", () -> blocks.heldReads() == 1);
    channel.close();
    Channel.await("the session notices", () -> server.sessions() == 1 && noWriter());
    blocks.answerReads(token, List.of(NAME));
    Channel.await("the session is over", () -> server.sessions() == 0);
    assertThat(blocks.leases()).isZero();
  }

  private static boolean noWriter() {
    return Thread.getAllStackTraces().keySet().stream()
        .noneMatch(thread -> thread.getName().startsWith("orbitkv-answers-"));
  }

  private long storeAndLease(Channel channel) {
    blocks.publish(NAME, MemorySegment.ofArray(new byte[10]), false);
    Command answer = channel.command(Opcode.QUERY, 100, Names.encode(List.of(NAME)), SECOND, 0);
    assertThat(answer.opcode()).isEqualTo(Opcode.QUERY_ANSWER.wire());
    assertThat(answer.scalar0()).isNotZero();
    assertThat(answer.scalar1()).isBetween(1L, Duration.ofSeconds(60).toNanos());
    return answer.scalar0();
  }

  @Test
  void aClientThatDoesNotReadHoldsUpNobodyElse() {
    try (Channel stalled = Channel.open(socket);
        Channel other = Channel.open(socket)) {
      Thread flood =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      for (int i = 1; i < 1_000_000; i++) {
                        stalled.frames.send(FrameKind.STATUS, i, Channel.EMPTY);
                      }
                    } catch (io.orbitkv.ffm.NativeException e) {
                      assertThat(e.errnoName()).isIn("EPIPE", "ECONNRESET");
                    }
                  });
      for (int i = 1; i <= 200; i++) {
        assertThat(other.call(FrameKind.STATUS, i, Channel.EMPTY).header().requestId())
            .isEqualTo(i);
      }
      assertThat(flood.isAlive()).isTrue();
      stalled.stream.shutdown();
      Joining.join(flood);
    }
  }

  @Test
  void framesOfAnotherEpochOrSessionAreRefusedAndTheSessionGoesOn() {
    try (Channel channel = Channel.open(socket);
        Channel other = Channel.open(socket)) {
      Epoch epoch = channel.welcome().epoch();
      long token = channel.welcome().session();
      channel.frames.identify(Epoch.random(), token);
      assertThat(Channel.refusal(channel.call(FrameKind.STATUS, 1, Channel.EMPTY)).code())
          .isEqualTo(FaultCode.STALE_EPOCH);
      channel.frames.identify(epoch, other.welcome().session());
      assertThat(Channel.refusal(channel.call(FrameKind.STATUS, 1, Channel.EMPTY)).code())
          .isEqualTo(FaultCode.DENIED);
      channel.frames.identify(epoch, token);
      channel.sendRawCommand(
          0, new Command(2, Opcode.RELEASE.wire(), 4, Epoch.random(), 0, 0, 0, 1, 0), new byte[0]);
      assertThat(fault(channel.nextAnswer().command())).isEqualTo(FaultCode.STALE_EPOCH);
      assertThat(channel.call(FrameKind.STATUS, 1, Channel.EMPTY).is(FrameKind.STATUS_TEXT))
          .isTrue();
    }
  }

  @Test
  void commandsThatAreNotServedAreRefusedByType() {
    try (Channel channel = Channel.open(socket)) {
      Epoch epoch = channel.welcome().epoch();
      byte[] names = Names.encode(List.of(NAME));
      Command[] wrong = {
        new Command(9, Opcode.QUERY.wire(), 1, epoch, 0, names.length, 0, SECOND, 0),
        new Command(2, 0x0777, 1, epoch, 64, names.length, 0, SECOND, 0),
        new Command(2, Opcode.QUERY_ANSWER.wire(), 1, epoch, 128, names.length, 0, SECOND, 0),
        new Command(2, Opcode.QUERY.wire(), 0, epoch, 192, names.length, 0, SECOND, 0),
        new Command(2, Opcode.QUERY.wire(), 1, epoch, 256, names.length - 1, 0, SECOND, 0),
        new Command(2, Opcode.QUERY.wire(), 1, epoch, 320, names.length, 0, 0, 0),
        new Command(2, Opcode.QUERY.wire(), 1, epoch, 384, names.length, 0, -1, 0),
        new Command(2, Opcode.QUERY.wire(), 1, epoch, 448, names.length, 0, SECOND, 12),
      };
      for (int i = 0; i < wrong.length; i++) {
        channel.sendRawCommand(i, wrong[i], names);
        assertThat(fault(channel.nextAnswer().command()))
            .as(wrong[i].toString())
            .isIn(FaultCode.UNSUPPORTED, FaultCode.INVALID);
      }
      for (FrameKind kind : FrameKind.values()) {
        assertThat(kind.wire()).as("commands are no frames").isLessThan(14);
      }
      assertThat(FrameKind.ofWire(999)).isNull();
      assertThat(FrameHeader.BYTES).isEqualTo(48);
    }
  }
}
