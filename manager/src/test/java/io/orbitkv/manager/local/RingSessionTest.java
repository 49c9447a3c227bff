package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.ring.RingLayout;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands in the ring: served, woken for, bounded, and finished before the end. */
@Timeout(180)
final class RingSessionTest {
  private static final byte[] NOTHING = {};

  /** Both rings, and what LateAnswers has room for between them: 8 MiB of answers of 64 bytes. */
  private static final long MOST_UNTAKEN = 2L * RingLayout.ENTRIES + (8 << 20) / 64 + 1;

  private Path socket;
  private ReferenceBlocks blocks;
  private LocalServer server;

  @BeforeEach
  void start(@TempDir Path directory) {
    socket = directory.resolve("m.sock");
    blocks = new ReferenceBlocks(8 << 20);
    server = LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks);
  }

  @AfterEach
  void stop() {
    server.close();
    blocks.close();
  }

  private static BlockName name(int number) {
    return BlockName.of("model", new byte[] {(byte) number, (byte) (number >> 8)});
  }

  @Test
  void sixtyFourClientsPingAndTheNextIsRefused() {
    List<ManagerClient> clients = new ArrayList<>();
    try {
      for (int i = 0; i < 64; i++) {
        clients.add(ManagerClient.connect(socket, ClientOptions.DEFAULTS));
      }
      clients.forEach(ManagerClient::ping);
      assertThatThrownBy(() -> ManagerClient.connect(socket, ClientOptions.DEFAULTS))
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.EXHAUSTED));
      clients.forEach(ManagerClient::ping);
    } finally {
      clients.forEach(ManagerClient::close);
    }
  }

  // Guard: SessionReader.accept calling SessionRing.look.
  @Test
  void aRequestWhoseWakeWasLostIsServedOnceTheManagerLooksAgain() {
    try (Channel channel = Channel.open(socket)) {
      assertThat(channel.command(Opcode.PING, 1, NOTHING, 0, 0).requestId()).isEqualTo(1);
      channel.awaitSleep();
      channel.putCommand(Opcode.PING, 2, NOTHING, 0, 0);
      assertThat(channel.answerNow()).isNull();
      assertThat(channel.call(FrameKind.HEALTH, 3, Channel.EMPTY).is(FrameKind.HEALTH_STATE))
          .isTrue();
      assertThat(channel.nextAnswer().command().requestId()).isEqualTo(2);
    }
  }

  // Guard: the timeout of the two polls: with one of 100 ms this finds no quiet second.
  @Test
  void idleSessionsWakeNobody() throws InterruptedException {
    try (ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
        RegisteredMemory memory = client.allocate(4_096)) {
      client.ping();
      assertThat(client.publish(List.of(Piece.of(name(1), memory))).future().join()).hasSize(1);
      client.queryAndWait(List.of(name(1)), QueryOptions.LOCAL).close();
      long deadline = System.nanoTime() + Channel.LIMIT.toNanos();
      Map<String, Long> before = voluntarySwitches();
      assertThat(before.keySet()).anyMatch(thread -> thread.contains("orbitkv-ring"));
      assertThat(before.keySet()).anyMatch(thread -> thread.contains("orbitkv-client"));
      while (true) {
        TimeUnit.SECONDS.sleep(1); // what is measured
        Map<String, Long> after = voluntarySwitches();
        if (after.equals(before)) {
          break;
        }
        assertThat(System.nanoTime()).as("%s then %s", before, after).isLessThan(deadline);
        before = after;
      }
      client.ping();
    }
  }

  /** How often each thread of ours gave its processor up, by number and name. */
  private static Map<String, Long> voluntarySwitches() {
    Map<String, Long> switches = new TreeMap<>();
    try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
      for (Path task : tasks.toList()) {
        try {
          String comm = Files.readString(task.resolve("comm")).strip();
          if (comm.startsWith("orbitkv-")) {
            for (String line : Files.readAllLines(task.resolve("status"))) {
              if (line.startsWith("voluntary_ctxt_switches:")) {
                switches.put(
                    task.getFileName() + " " + comm,
                    Long.parseLong(line.substring(line.indexOf(':') + 1).strip()));
              }
            }
          }
        } catch (NoSuchFileException _) {
          // that thread has just ended
        }
      }
      return switches;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  // Guard: LateAnswers.full, without which the ring is emptied for ever.
  @Test
  void aClientThatTakesNoAnswersIsTakenNoMoreRequestsFromAndLosesNone() {
    try (Channel greedy = Channel.open(socket);
        ManagerClient other = ManagerClient.connect(socket, ClientOptions.DEFAULTS)) {
      for (long i = 1; i <= MOST_UNTAKEN; i++) {
        greedy.sendCommand(Opcode.PING, i, NOTHING, 0, 0);
      }
      greedy.awaitSleep();
      assertThat(greedy.tryCommand(Opcode.PING, MOST_UNTAKEN + 1)).as("room for more").isFalse();
      other.ping();
      for (long i = 1; i <= MOST_UNTAKEN; i++) {
        assertThat(greedy.nextAnswer().command().requestId()).isEqualTo(i);
      }
      assertThat(greedy.command(Opcode.PING, MOST_UNTAKEN + 1, NOTHING, 0, 0).requestId())
          .isEqualTo(MOST_UNTAKEN + 1);
    }
  }

  // Guard: SessionRing.endRequests taking up to stopAt before it ends.
  @Test
  void everythingThatWasInTheRingAtCloseIsAnsweredBeforeClosed() {
    try (Channel channel = Channel.open(socket)) {
      channel.awaitSleep();
      for (int i = 1; i <= 700; i++) {
        channel.putCommand(Opcode.PING, i, NOTHING, 0, 0);
      }
      channel.frames.send(FrameKind.CLOSE, 9, Channel.EMPTY);
      assertThat(channel.next().is(FrameKind.CLOSED)).isTrue();
      for (int i = 1; i <= 700; i++) {
        Taken answer = Objects.requireNonNull(channel.answerNow(), "answer " + i);
        assertThat(answer.command().requestId()).isEqualTo(i);
      }
      assertThat(channel.ended()).isTrue();
    }
  }

  @Test
  void manyThreadsShareOneClient() throws InterruptedException {
    ConcurrentLinkedQueue<Throwable> failed = new ConcurrentLinkedQueue<>();
    try (ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
        RegisteredMemory memory = client.allocate(4_096)) {
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 6; t++) {
        int number = t;
        threads.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      try {
                        use(client, memory, number);
                      } catch (Throwable e) {
                        failed.add(e);
                      }
                    }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(failed).isEmpty();
    }
    Channel.await("all leases are released", () -> blocks.leases() == 0);
    assertThat(server.pendingQueries()).isZero();
  }

  private static void use(ManagerClient client, RegisteredMemory memory, int number) {
    for (int i = 0; i < 300; i++) {
      BlockName name = name(number * 300 + i);
      client.ping();
      CompletableFuture<List<PublishResult>> published =
          client.publish(List.of(new Piece(name, memory, 0, 16))).future();
      CompletableFuture<BlockLease> none =
          client.query(List.of(BlockName.of("no", new byte[] {1})), QueryOptions.LOCAL);
      if (i % 3 == 0) {
        assertThat(published.orTimeout(60, TimeUnit.SECONDS).join().getFirst().code()).isNull();
        try (BlockLease lease = client.queryAndWait(List.of(name), QueryOptions.LOCAL)) {
          assertThat(lease.blocks()).hasSize(1);
        }
      }
      assertThat(none.orTimeout(60, TimeUnit.SECONDS).join().blocks()).isEmpty();
    }
  }

  // Guard: RingCalls.leave handing a late answer to the thread of the futures.
  @Test
  void anAnswerThatComesAfterTheTimeoutIsReleased() {
    blocks.publish(name(1), java.lang.foreign.MemorySegment.ofArray(new byte[10]), false);
    blocks.holdReads();
    ClientOptions hasty = ClientOptions.DEFAULTS.withTimeout(Duration.ofMillis(300));
    try (ManagerClient client = ManagerClient.connect(socket, hasty)) {
      QueryOptions options = QueryOptions.LOCAL.withDeadline(Duration.ofMillis(100));
      assertThatThrownBy(() -> client.queryAndWait(List.of(name(1)), options))
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.DEADLINE));
      blocks.answerReads(client.session(), List.of(name(1)));
      assertThat(blocks.leasesGiven()).as("the answer has a lease").isEqualTo(1);
      Channel.await("it is released", () -> blocks.leases() == 0);
      client.ping();
    }
  }
}
