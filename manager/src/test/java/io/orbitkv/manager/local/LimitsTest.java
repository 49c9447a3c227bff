package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ring.RingConsumer;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.MemoryOffer;
import io.orbitkv.adapter.wire.Names;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.PublishEntry;
import io.orbitkv.adapter.wire.ReadEntry;
import io.orbitkv.adapter.wire.RegistrationId;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Memfd;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each limit of {@link LocalLimits}, small: refused by its code before anything was done. */
final class LimitsTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final int PAGE = 4_096;
  private static final BlockName NAME =
      BlockName.of("model", "block".getBytes(StandardCharsets.UTF_8));
  private static final byte[] NAMES = Names.encode(List.of(NAME));
  private static final LocalLimits SMALL =
      new LocalLimits(8, 2, 3, 1, 2_048, 2, 2, 3L * PAGE, 1, 5_000);

  private Path socket;
  private ReferenceBlocks blocks;
  private LocalServer server;

  @BeforeEach
  void start(@TempDir Path directory) {
    socket = directory.resolve("m.sock");
    blocks = new ReferenceBlocks(1 << 20);
    server =
        LocalServer.start(socket, LocalOptions.DEFAULTS.withLimits(SMALL), Epoch.random(), blocks);
  }

  @AfterEach
  void stop() {
    server.close();
    blocks.close();
  }

  private static void assertExhausted(RingConsumer.Taken answer, String flag) {
    assertRefused(answer, FaultCode.EXHAUSTED, flag);
  }

  private static void assertRefused(RingConsumer.Taken answer, FaultCode code, String flag) {
    Command command = answer.command();
    assertThat(command.opcode()).isEqualTo(Opcode.REFUSAL.wire());
    assertThat(FaultCode.ofWire((int) command.scalar0())).isEqualTo(code);
    byte[] text = answer.descriptor().toArray(ValueLayout.JAVA_BYTE);
    assertThat(new String(text, StandardCharsets.UTF_8)).contains(flag);
  }

  private static RingConsumer.Taken ask(
      Channel channel, Opcode opcode, long id, byte[] descriptor) {
    channel.sendCommand(opcode, id, descriptor, opcode == Opcode.QUERY ? SECOND : 0, 0);
    return channel.nextAnswer();
  }

  private static void assertRefused(
      Channel channel, long bytes, Fd memfd, FaultCode code, String flag) {
    var refusal = Channel.refusal(channel.call(FrameKind.REGISTER, 9, offer(0, bytes), memfd));
    assertThat(refusal.code()).isEqualTo(code);
    assertThat(refusal.text()).contains(flag);
  }

  private static MemorySegment offer(long offset, long bytes) {
    return new MemoryOffer(MemoryOffer.HOST_SHARED, offset, bytes).encode();
  }

  private static Fd memory() {
    Fd memfd = Memfd.create("orbitkv-engine", 4 * PAGE);
    Memfd.addSeals(memfd, Memfd.F_SEAL_SHRINK);
    return memfd;
  }

  private static RegistrationId register(Channel channel, long offset, Fd memfd) {
    return RegistrationId.decode(
        channel.call(FrameKind.REGISTER, 1, offer(offset, PAGE), memfd).body());
  }

  // Guard: LocalContext.admitQuery; and the session's place that such a refusal gives back.
  @Test
  void queriesOfAllSessionsHaveALimitOfTheirOwn() {
    blocks.holdReads();
    try (Channel one = Channel.open(socket);
        Channel two = Channel.open(socket)) {
      one.sendCommand(Opcode.QUERY, 1, NAMES, SECOND, 0);
      one.sendCommand(Opcode.QUERY, 2, NAMES, SECOND, 0);
      Channel.await("two reads", () -> blocks.heldReads() == 2);
      two.sendCommand(Opcode.QUERY, 1, NAMES, SECOND, 0);
      Channel.await("three reads", () -> blocks.heldReads() == 3);
      for (int i = 2; i < 6; i++) {
        assertExhausted(ask(two, Opcode.QUERY, i, NAMES), "--queries");
      }
      assertThat(blocks.heldReads()).isEqualTo(3);
      assertThat(server.pendingQueries()).isEqualTo(3);
      assertThat(server.refusals()).isEqualTo(4);
      blocks.answerReads(one.welcome().session(), List.of(NAME));
      assertThat(one.nextAnswer().command().opcode()).isEqualTo(Opcode.QUERY_ANSWER.wire());
      assertThat(one.nextAnswer().command().opcode()).isEqualTo(Opcode.QUERY_ANSWER.wire());
      assertThat(two.nextAnswer().command().opcode()).isEqualTo(Opcode.QUERY_ANSWER.wire());
      assertThat(two.command(Opcode.QUERY, 7, NAMES, SECOND, 0).opcode())
          .isEqualTo(Opcode.QUERY_ANSWER.wire());
    }
  }

  // Guard: SessionWork.admit of a publish.
  @Test
  void publishesOfASessionAreLimitedAndNothingIsCopied() {
    CountDownLatch gate = new CountDownLatch(1);
    blocks.gate(gate);
    try (Channel channel = Channel.open(socket);
        Fd memfd = memory()) {
      RegistrationId id = register(channel, 0, memfd);
      byte[] piece =
          PublishEntry.encode(List.of(new PublishEntry(NAME, id.id(), id.generation(), 0, PAGE)));
      channel.sendCommand(Opcode.PUBLISH, 7, piece, 0, 0);
      Channel.await("the copy is under way", () -> blocks.publishing() == 1);
      assertExhausted(ask(channel, Opcode.PUBLISH, 8, piece), "--publishes-per-session");
      assertThat(blocks.publishing()).isEqualTo(1);
      gate.countDown();
      assertThat(channel.nextAnswer().command().opcode()).isEqualTo(Opcode.PUBLISH_ANSWER.wire());
      assertThat(channel.command(Opcode.PUBLISH, 9, piece, 0, 0).opcode())
          .isEqualTo(Opcode.PUBLISH_ANSWER.wire());
    }
  }

  // Guard: SessionWork.admit of the bytes that a command holds until it is answered; INVALID what
  // no waiting would help.
  @Test
  void aCommandWithMoreMetadataThanIsLeftIsRefusedUnasked() {
    byte[] many = Names.encode(Collections.nCopies(200, NAME));
    byte[] most = Names.encode(Collections.nCopies(2_048 / ReadEntry.BYTES, NAME));
    try (Channel channel = Channel.open(socket)) {
      blocks.holdReads();
      assertRefused(
          ask(channel, Opcode.QUERY, 1, many), FaultCode.INVALID, "--command-bytes-per-session");
      assertThat(blocks.heldReads()).isZero();
      channel.sendCommand(Opcode.QUERY, 2, NAMES, SECOND, 0);
      Channel.await("a small one is taken", () -> blocks.heldReads() == 1);
      channel.sendCommand(Opcode.QUERY, 3, most, SECOND, 0);
      assertExhausted(channel.nextAnswer(), "--command-bytes-per-session");
    }
  }

  // Guard: LocalSession.admit counting leases, and pending queries, each of which may become one.
  @Test
  void aSessionThatKeepsItsLeasesGetsNoMore() {
    try (Channel channel = Channel.open(socket);
        Fd memfd = memory()) {
      RegistrationId id = register(channel, 0, memfd);
      byte[] piece =
          PublishEntry.encode(List.of(new PublishEntry(NAME, id.id(), id.generation(), 0, PAGE)));
      assertThat(channel.command(Opcode.PUBLISH, 1, piece, 0, 0).opcode())
          .isEqualTo(Opcode.PUBLISH_ANSWER.wire());
      Command first = channel.command(Opcode.QUERY, 2, NAMES, SECOND, 0);
      assertThat(blocks.leases()).isEqualTo(1);
      blocks.holdReads();
      channel.sendCommand(Opcode.QUERY, 3, NAMES, SECOND, 0);
      Channel.await("the second is pending", () -> blocks.heldReads() == 1);
      assertExhausted(ask(channel, Opcode.QUERY, 4, NAMES), "--leases-per-session");
      blocks.answerReads(channel.welcome().session(), List.of(NAME));
      assertThat(channel.nextAnswer().command().opcode()).isEqualTo(Opcode.QUERY_ANSWER.wire());
      assertThat(blocks.leases()).isEqualTo(2);
      assertExhausted(ask(channel, Opcode.QUERY, 5, NAMES), "--leases-per-session");
      assertThat(blocks.leases()).isEqualTo(2);
      assertThat(channel.command(Opcode.RELEASE, 6, new byte[0], first.scalar0(), 0).opcode())
          .isEqualTo(Opcode.RELEASE_ANSWER.wire());
      assertThat(channel.command(Opcode.QUERY, 7, NAMES, SECOND, 0).opcode())
          .isEqualTo(Opcode.QUERY_ANSWER.wire());
    }
  }

  // Guard: EngineMemories.check, of the number and of the bytes.
  @Test
  void registrationsAreLimitedInNumberAndBytesBeforeTheyAreMapped() {
    long before = Channel.engineMappings();
    try (Channel channel = Channel.open(socket);
        Fd one = memory();
        Fd two = memory()) {
      assertRefused(
          channel, 3L * PAGE + 1, one, FaultCode.INVALID, "--registered-bytes-per-session");
      RegistrationId first = register(channel, 0, one);
      assertRefused(
          channel, 2L * PAGE + 1, two, FaultCode.EXHAUSTED, "--registered-bytes-per-session");
      register(channel, PAGE, one);
      assertThat(Channel.engineMappings()).isEqualTo(before + 2);
      assertRefused(channel, 1, two, FaultCode.EXHAUSTED, "--registrations-per-session");
      assertThat(Channel.engineMappings()).isEqualTo(before + 2);
      channel.call(FrameKind.UNREGISTER, 2, first.encode()).discard();
      register(channel, 0, two);
    }
  }
}
