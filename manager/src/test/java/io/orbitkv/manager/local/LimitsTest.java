package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.MemoryOffer;
import io.orbitkv.adapter.wire.Names;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.PublishEntry;
import io.orbitkv.adapter.wire.RegistrationId;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Memfd;
import java.lang.foreign.MemorySegment;
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
      new LocalLimits(8, 2, 3, 1, 2_048, 1, 2, 3L * PAGE, 1, 5_000);

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

  private static void assertExhausted(Command answer) {
    assertThat(answer.opcode()).isEqualTo(Opcode.REFUSAL.wire());
    assertThat(FaultCode.ofWire((int) answer.scalar0())).isEqualTo(FaultCode.EXHAUSTED);
  }

  private static void assertExhausted(Channel channel, long bytes, Fd memfd) {
    var refusal = Channel.refusal(channel.call(FrameKind.REGISTER, 9, offer(0, bytes), memfd));
    assertThat(refusal.code()).isEqualTo(FaultCode.EXHAUSTED);
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
        assertExhausted(two.command(Opcode.QUERY, i, NAMES, SECOND, 0));
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
      assertExhausted(channel.command(Opcode.PUBLISH, 8, piece, 0, 0));
      assertThat(blocks.publishing()).isEqualTo(1);
      gate.countDown();
      assertThat(channel.nextAnswer().command().opcode()).isEqualTo(Opcode.PUBLISH_ANSWER.wire());
      assertThat(channel.command(Opcode.PUBLISH, 9, piece, 0, 0).opcode())
          .isEqualTo(Opcode.PUBLISH_ANSWER.wire());
    }
  }

  // Guard: SessionWork.admit of the bytes that a command holds until it is answered.
  @Test
  void aCommandWithMoreMetadataThanIsLeftIsRefusedUnasked() {
    byte[] many = Names.encode(Collections.nCopies(200, NAME));
    try (Channel channel = Channel.open(socket)) {
      blocks.holdReads();
      assertExhausted(channel.command(Opcode.QUERY, 1, many, SECOND, 0));
      assertThat(blocks.heldReads()).isZero();
      channel.sendCommand(Opcode.QUERY, 2, NAMES, SECOND, 0);
      Channel.await("a small one is taken", () -> blocks.heldReads() == 1);
    }
  }

  // Guard: LocalSession.admit counting leases.
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
      assertExhausted(channel.command(Opcode.QUERY, 3, NAMES, SECOND, 0));
      assertThat(blocks.leases()).isEqualTo(1);
      assertThat(channel.command(Opcode.RELEASE, 4, new byte[0], first.scalar0(), 0).opcode())
          .isEqualTo(Opcode.RELEASE_ANSWER.wire());
      assertThat(channel.command(Opcode.QUERY, 5, NAMES, SECOND, 0).opcode())
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
      assertExhausted(channel, 3L * PAGE + 1, one);
      RegistrationId first = register(channel, 0, one);
      assertExhausted(channel, 2L * PAGE + 1, two);
      register(channel, PAGE, one);
      assertThat(Channel.engineMappings()).isEqualTo(before + 2);
      assertExhausted(channel, 1, two);
      assertThat(Channel.engineMappings()).isEqualTo(before + 2);
      channel.call(FrameKind.UNREGISTER, 2, first.encode()).discard();
      register(channel, 0, two);
    }
  }
}
