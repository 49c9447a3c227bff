package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.PidFd;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The death of either side, by SIGKILL, of a real process. */
@Timeout(120)
final class ProcessDeathTest {
  private static final long EPERM = 1;

  private static String firstLine(Process process) throws IOException {
    BufferedReader reader =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = reader.readLine();
    return line == null ? "(ended)" : line;
  }

  @Test
  void whatAKilledEngineHeldEndsWithinASecond(@TempDir Path directory) throws Exception {
    Path socket = directory.resolve("m.sock");
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer server =
            LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks)) {
      Process engine = EngineMain.start("engine", socket);
      try {
        String[] ready = firstLine(engine).split(" ", -1);
        assertThat(ready).as("what the engine printed").hasSize(3).endsWith("1");
        assertThat(blocks.leases()).isEqualTo(1);
        assertThat(Channel.engineMappings()).isEqualTo(1);
        assertThat(blocks.exited()).isEmpty();

        long killed = System.nanoTime();
        engine.destroyForcibly();
        Channel.await("its exit is told", () -> !blocks.exited().isEmpty());
        Channel.await("its memory is unmapped", () -> Channel.engineMappings() == 0);
        long nanos = System.nanoTime() - killed;
        System.out.println("ProcessDeathTest: exit to release " + nanos / 1_000 + " us");
        assertThat(Duration.ofNanos(nanos)).isLessThan(Duration.ofSeconds(1));
        assertThat(blocks.exited()).containsExactly(Long.parseLong(ready[1]));
        assertThat(blocks.leases()).isZero();
        Channel.await("its slot is free", () -> server.sessions() == 0);
        assertReads(socket);
      } finally {
        engine.destroyForcibly().waitFor();
      }
    }
  }

  @Test
  void aCopyUnderWayKeepsTheMemoryOfAKilledEngineMapped(@TempDir Path directory) throws Exception {
    Path socket = directory.resolve("m.sock");
    CountDownLatch gate = new CountDownLatch(1);
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer server =
            LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks)) {
      blocks.gate(gate);
      Process engine = EngineMain.start("engine", socket);
      try {
        Channel.await("its copy is under way", () -> blocks.publishing() == 1);
        engine.destroyForcibly();
        Channel.await("its exit is told", () -> !blocks.exited().isEmpty());
        // Guard: the use count of SharedMapping; without it the copy below faults.
        assertThat(Channel.engineMappings()).isEqualTo(1);
        gate.countDown();
        Channel.await("its memory is unmapped", () -> Channel.engineMappings() == 0);
        Channel.await("its slot is free", () -> server.sessions() == 0);
        assertReads(socket);
      } finally {
        gate.countDown();
        engine.destroyForcibly().waitFor();
      }
    }
  }

  /** A new client attaches and reads what the killed engine has published, every byte. */
  private static void assertReads(Path socket) {
    try (ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
        BlockLease lease = client.queryAndWait(List.of(EngineMain.NAME), QueryOptions.LOCAL)) {
      assertCopies(lease);
    }
  }

  private static void assertCopies(BlockLease lease) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(8_192);
      lease.copyTo(lease.blocks().getFirst(), copy);
      assertThat(copy.toArray(ValueLayout.JAVA_BYTE)).containsOnly(EngineMain.CONTENT);
    }
  }

  @Test
  void aKilledManagerFailsWhatIsOutstandingAndLeavesLeasesReadable(@TempDir Path directory)
      throws Exception {
    Path socket = directory.resolve("m.sock");
    Process manager = EngineMain.start("manager", socket);
    try {
      assertThat(firstLine(manager)).isEqualTo("ready");
      try (ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
          RegisteredMemory memory = client.allocate(8_192)) {
        var _ = memory.segment().fill(EngineMain.CONTENT);
        assertThat(
                client.publish(List.of(Piece.of(EngineMain.NAME, memory)), Duration.ofSeconds(20)))
            .hasSize(1);
        BlockLease lease = client.queryAndWait(List.of(EngineMain.NAME), QueryOptions.LOCAL);
        manager.destroyForcibly().waitFor();
        Channel.await("the client notices", () -> !client.connected());
        assertThat(client.peerAlive()).isFalse();
        assertThatThrownBy(() -> client.queryAndWait(List.of(EngineMain.NAME), QueryOptions.LOCAL))
            .isInstanceOfSatisfying(
                TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.PEER_LOST))
            .hasMessageContaining(socket.toString());
        assertCopies(lease);
        lease.close();
      }
      assertThatThrownBy(() -> ManagerClient.connect(socket, ClientOptions.DEFAULTS))
          .hasMessageContaining("ECONNREFUSED");
    } finally {
      manager.destroyForcibly().waitFor();
    }
    Process next = EngineMain.start("manager", socket);
    try {
      assertThat(firstLine(next)).as("a stale socket file is replaced").isEqualTo("ready");
      ManagerClient.connect(socket, ClientOptions.DEFAULTS).close();
    } finally {
      next.destroyForcibly().waitFor();
    }
  }

  // Guard: the Manager's pidfd in AnswerRing. Its sockets tell nothing here, since they live on in
  // this process: without the pidfd the wait takes the 100 s that it is allowed.
  @Test
  void aWaitEndsAtOnceWhenAStoppedManagerIsKilled(@TempDir Path directory) throws Throwable {
    Path socket = directory.resolve("m.sock");
    Process manager = EngineMain.start("manager", socket);
    List<Fd> sockets = List.of();
    try {
      assertThat(firstLine(manager)).isEqualTo("ready");
      ClientOptions patient = ClientOptions.DEFAULTS.withTimeout(Duration.ofSeconds(100));
      try (ManagerClient client = ManagerClient.connect(socket, patient)) {
        client.ping();
        signal(manager, "-STOP");
        sockets = socketsOf(manager);
        assertThat(sockets).isNotEmpty();
        CompletableFuture<Void> waiting = new CompletableFuture<>();
        Thread waiter =
            Thread.ofPlatform()
                .start(
                    () -> {
                      try {
                        client.ping();
                        waiting.complete(null);
                      } catch (TransportException e) {
                        waiting.completeExceptionally(e);
                      }
                    });
        Channel.await("it sleeps for its answer", () -> sleepsForAnAnswer(waiter));
        manager.destroyForcibly();
        long killed = System.nanoTime();
        assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS))
            .cause()
            .isInstanceOfSatisfying(
                TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.PEER_LOST));
        long micros = (System.nanoTime() - killed) / 1_000;
        System.out.println(
            "ProcessDeathTest: death of the Manager to its waiter " + micros + " us");
        waiter.join();
      }
    } finally {
      sockets.forEach(Fd::close);
      manager.destroyForcibly().waitFor();
    }
  }

  private static boolean sleepsForAnAnswer(Thread thread) {
    return Stream.of(thread.getStackTrace())
        .anyMatch(
            frame ->
                frame.getClassName().endsWith(".AnswerRing")
                    && frame.getMethodName().equals("sleep"));
  }

  /** Copies of all sockets that a process has. */
  private static List<Fd> socketsOf(Process process) throws Throwable {
    List<Fd> copies = new ArrayList<>();
    Path directory = Path.of("/proc/" + process.pid() + "/fd");
    try (PidFd pidFd = PidFd.open(process.pid());
        DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        if (Files.readSymbolicLink(file).toString().startsWith("socket:")) {
          int number = Integer.parseInt(file.getFileName().toString());
          long copy = TestCalls.copyOf(pidFd.fd().number(), number);
          assumeThat(copy).as("a sandbox that forbids pidfd_getfd").isNotEqualTo(-EPERM);
          assertThat(copy).as("pidfd_getfd of %s", file).isPositive();
          copies.add(Fd.adopt((int) copy));
        }
      }
    }
    return copies;
  }

  private static void signal(Process process, String signal) throws Exception {
    Process kill = new ProcessBuilder("kill", signal, String.valueOf(process.pid())).start();
    assertThat(kill.waitFor()).isZero();
  }

  @Test
  void aStoppedServerFailsOutstandingFuturesAtOnce(@TempDir Path directory) {
    Path socket = directory.resolve("m.sock");
    LocalOptions options = LocalOptions.DEFAULTS.withStopWithin(Duration.ofMillis(100));
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer server = LocalServer.start(socket, options, Epoch.random(), blocks);
        ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS)) {
      blocks.holdReads();
      var found = client.query(List.of(EngineMain.NAME), QueryOptions.LOCAL);
      Channel.await("the read arrives", () -> blocks.heldReads() == 1);
      assertThat(server.stop()).isFalse();
      assertThatThrownBy(found::join)
          .cause()
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.PEER_LOST));
    }
  }
}
