package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.Publication;
import io.orbitkv.adapter.PublishActivity;
import io.orbitkv.adapter.PublishOptions;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.adapter.SaveNotSubmitted;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The handle of a publish: what it says at which time, and what is never said of it. */
@Timeout(120)
final class PublicationTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final Duration NOT_LONG = Duration.ofMillis(50);
  private static final int MOST = 1_024;

  private final CountDownLatch gate = new CountDownLatch(1);
  private Path socket;
  private ReferenceBlocks blocks;
  private LocalServer server;

  @BeforeEach
  void start(@TempDir Path directory) {
    socket = directory.resolve("m.sock");
    blocks = new ReferenceBlocks(4 << 20);
    LocalOptions options = LocalOptions.DEFAULTS.withStopWithin(Duration.ofMillis(100));
    server = LocalServer.start(socket, options, Epoch.random(), blocks);
  }

  @AfterEach
  void stop() {
    gate.countDown();
    server.close();
    blocks.close();
  }

  private static BlockName name(int number) {
    return BlockName.of("model", new byte[] {(byte) number, (byte) (number >> 8)});
  }

  private static List<Piece> one(RegisteredMemory memory, int number) {
    return List.of(new Piece(name(number), memory, 0, 16));
  }

  // Guard: Publication.await returning empty for DEADLINE of its own wait; without it the first
  // await throws, which reads as an end.
  @Test
  void aTimeoutIsPendingAndNotAnEnd() {
    blocks.gate(gate);
    try (ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
        RegisteredMemory memory = client.allocate(4_096)) {
      PublishOptions hasty = PublishOptions.DEFAULTS.withOverdueAfter(Duration.ofMillis(1));
      Publication publication = client.publish(one(memory, 1), hasty);
      assertThat(publication.await(NOT_LONG)).isEmpty();
      assertThat(publication.active()).isTrue();
      assertThat(publication.retained()).isTrue();
      assertThat(publication.overdue()).isTrue();
      assertThat(publication.managerAlive()).isTrue();
      assertThat(client.publishActivity()).isEqualTo(new PublishActivity(1, 1, 1, true));
      assertThatThrownBy(() -> client.publish(one(memory, 2), NOT_LONG))
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.DEADLINE))
          .isNotInstanceOf(SaveNotSubmitted.class);
      Publication patient = client.publish(one(memory, 3));
      assertThat(patient.overdue()).isFalse();

      gate.countDown();
      assertThat(publication.await(SOON).orElseThrow())
          .containsExactly(new PublishResult(name(1), PublishResult.Status.STORED, null, null));
      assertThat(patient.await(SOON)).isPresent();
      assertThat(publication.active()).isFalse();
      assertThat(publication.retained()).isFalse();
      assertThat(publication.overdue()).isFalse();
      Channel.await(
          "the one that nobody waits for has ended too",
          () -> client.publishActivity().equals(new PublishActivity(0, 0, 0, true)));
      assertThat(client.publish(one(memory, 2), SOON).getFirst().status())
          .as("it went on behind its timeout")
          .isEqualTo(PublishResult.Status.PRESENT);
    }
  }

  // Guard: the number in PublishBudget.take. Without it the last one is submitted like the others:
  // two sessions have half of them each, so that no limit of the Manager is near.
  @Test
  void oneMoreThanAProcessMayHaveIsNeverSubmitted() {
    blocks.gate(gate);
    try (ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
        ManagerClient second = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
        RegisteredMemory memory = client.allocate(4_096);
        RegisteredMemory other = second.allocate(4_096)) {
      List<Publication> accepted = new ArrayList<>();
      for (int i = 0; i < MOST; i++) {
        boolean first = i % 2 == 0;
        accepted.add(first ? client.publish(one(memory, i)) : second.publish(one(other, i)));
      }
      assertThatThrownBy(() -> client.publish(one(memory, MOST)))
          .isInstanceOfSatisfying(
              SaveNotSubmitted.class,
              e -> {
                assertThat(e.code()).isEqualTo(FaultCode.EXHAUSTED);
                assertThat(e.evidence()).isEqualTo(Evidence.NEVER_SUBMITTED);
              })
          .hasMessageContaining("1024");
      assertThat(client.publishActivity().active()).isEqualTo(MOST / 2);
      gate.countDown();
      for (Publication publication : accepted) {
        assertThat(publication.await(SOON).orElseThrow().getFirst().status())
            .isEqualTo(PublishResult.Status.STORED);
      }
      assertThat(client.publish(one(memory, MOST), SOON).getFirst().status())
          .as("it was never seen, and there is room again")
          .isEqualTo(PublishResult.Status.STORED);
    }
  }

  // Guard: the bytes in PublishBudget.take.
  @Test
  void theMetadataOfAProcessIsBounded() {
    blocks.gate(gate);
    try (ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
        RegisteredMemory memory = client.allocate(4_096)) {
      List<Piece> pieces = new ArrayList<>();
      for (int i = 0; i < 12_000; i++) {
        byte[] hash = new byte[255];
        hash[0] = (byte) i;
        hash[1] = (byte) (i >> 8);
        pieces.add(new Piece(BlockName.of("m", hash), memory, 0, 1));
      }
      List<Publication> accepted = new ArrayList<>();
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < 20; i++) {
                  accepted.add(client.publish(pieces));
                }
              })
          .isInstanceOf(SaveNotSubmitted.class)
          .hasMessageContaining("33554432");
      assertThat(accepted).hasSizeBetween(8, 10);
      gate.countDown();
      for (Publication publication : accepted) {
        assertThat(publication.await(Duration.ofSeconds(60)).orElseThrow()).hasSize(12_000);
      }
    }
  }

  // Guard: fateUnknown in Publication.retained: without it the range counts as free while the
  // Manager, which has only closed the connection, is still copying out of it.
  @Test
  void behindALostConnectionTheRangeStaysRetainedWhileTheManagerLives() {
    blocks.gate(gate);
    try (ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
        RegisteredMemory memory = client.allocate(4_096)) {
      Publication publication = client.publish(one(memory, 1));
      Channel.await("its copy is under way", () -> blocks.publishing() == 1);
      assertThat(server.stop()).isFalse();
      assertThatThrownBy(() -> publication.await(SOON))
          .isNotInstanceOf(SaveNotSubmitted.class)
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.PEER_LOST));
      assertThat(publication.active()).isFalse();
      assertThat(publication.retained()).isTrue();
      assertThat(client.publishActivity()).isEqualTo(new PublishActivity(0, 1, 0, true));
      assertThatThrownBy(() -> client.publish(one(memory, 2)))
          .isInstanceOfSatisfying(
              SaveNotSubmitted.class, e -> assertThat(e.code()).isEqualTo(FaultCode.PEER_LOST));
      gate.countDown();
      Channel.await("the copy is over", () -> Channel.engineMappings() == 1);
    }
  }

  // Guard: PidFd.hasExited in Connection.managerAlive: without it the range stays retained for
  // ever.
  @Test
  void theManagersExitEndsWhatIsRetained(@TempDir Path directory) throws Exception {
    Path own = directory.resolve("own.sock");
    Process manager = EngineMain.start("manager", own);
    try {
      EngineMain.awaitLine(manager, "ready");
      try (ManagerClient client = ManagerClient.connect(own, ClientOptions.DEFAULTS);
          RegisteredMemory memory = client.allocate(4_096)) {
        assertThat(client.publish(one(memory, 1), SOON)).hasSize(1);
        EngineMain.signal(manager, "-STOP");
        Publication publication = client.publish(one(memory, 2));
        assertThat(publication.await(NOT_LONG)).isEmpty();
        assertThat(publication.managerAlive()).isTrue();
        manager.destroyForcibly();
        assertThat(manager.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(() -> publication.await(SOON))
            .isInstanceOfSatisfying(
                TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.PEER_LOST));
        assertThat(publication.managerAlive()).isFalse();
        assertThat(publication.retained()).isFalse();
        assertThat(client.publishActivity()).isEqualTo(new PublishActivity(0, 0, 0, false));
      }
    } finally {
      manager.destroyForcibly().waitFor();
    }
  }

  // Guard: RingCalls.open telling what is not in the ring from what is: without it the last one is
  // any DEADLINE, of which nobody knows whether it was submitted.
  @Test
  void aFullRingIsNeverSubmittedAndWhatIsInItIsPending(@TempDir Path directory) throws Exception {
    Path own = directory.resolve("own.sock");
    Process manager = EngineMain.start("manager", own);
    try {
      EngineMain.awaitLine(manager, "ready");
      ClientOptions hasty = ClientOptions.DEFAULTS.withTimeout(Duration.ofSeconds(2));
      try (ManagerClient filled = ManagerClient.connect(own, hasty);
          RegisteredMemory range = filled.allocate(4_096)) {
        EngineMain.signal(manager, "-STOP");
        List<Piece> wide = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
          wide.add(new Piece(BlockName.of("wide", new byte[255]), range, 0, 1));
        }
        List<Publication> inside = new ArrayList<>();
        assertThatThrownBy(
                () -> {
                  for (int i = 0; i < 100; i++) {
                    inside.add(filled.publish(wide));
                  }
                })
            .isInstanceOfSatisfying(
                SaveNotSubmitted.class, e -> assertThat(e.code()).isEqualTo(FaultCode.DEADLINE));
        assertThat(inside).hasSizeGreaterThan(5).allMatch(Publication::active);
        EngineMain.signal(manager, "-CONT");
        for (Publication publication : inside) {
          assertThat(publication.await(Duration.ofSeconds(40))).isPresent();
        }
      }
    } finally {
      manager.destroyForcibly().waitFor();
    }
  }
}
