package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.api.Epoch;
import java.io.BufferedReader;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Real clients that die by SIGKILL at random points, from before their HELLO on, with
 * registrations, publishes, queries and leases under way: nothing of them is left, and others go on
 * meanwhile. Guard: the service's processExited in LocalSession.processExited, without which leases
 * stay.
 */
final class KilledClientTest {
  private static final int AHEAD = 3;

  /** Steps that a client says, the first before it connects, and how long after one it dies. */
  private static final int MOST_STEPS = 60;

  private static final int MOST_NANOS = 3_000_000;

  @Test
  @Timeout(180)
  void thirtyClients(@TempDir Path directory) throws Exception {
    kill(directory, 30);
  }

  @Test
  @Tag("slow")
  @Timeout(900)
  void fiveHundredClients(@TempDir Path directory) throws Exception {
    kill(directory, 500);
  }

  private static void kill(Path directory, int clients) throws Exception {
    long seed = System.nanoTime();
    System.out.println("KilledClientTest seed " + seed);
    Random random = new Random(seed);
    Path socket = directory.resolve("m.sock");
    Deque<Process> started = new ArrayDeque<>();
    int connected = 0;
    try (ReferenceBlocks blocks = new ReferenceBlocks(16 << 20);
        LocalServer server =
            LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks);
        ManagerClient witness = ManagerClient.connect(socket, ClientOptions.DEFAULTS)) {
      var _ = blocks.publish(EngineMain.NAME, MemorySegment.ofArray(new byte[100]), false);
      witness.ping();
      int before = Channel.openDescriptors();
      for (int i = 0; i < clients; i++) {
        while (started.size() < Math.min(AHEAD, clients - i)) {
          started.add(EngineMain.start("busy", socket));
        }
        Process client = started.remove();
        int steps = random.nextInt(MOST_STEPS);
        BufferedReader said = client.inputReader(StandardCharsets.UTF_8);
        assertThat(said.readLine()).isEqualTo("ready");
        for (int step = 0; step < steps; step++) {
          assertThat(said.readLine()).as("step %d", step).isNotNull();
        }
        LockSupport.parkNanos(random.nextInt(MOST_NANOS)); // the random point
        connected += server.sessionsOf(client.pid());
        client.destroyForcibly();
        witness.ping();
        try (ManagerClient next = ManagerClient.connect(socket, ClientOptions.DEFAULTS)) {
          next.ping();
        }
        assertThat(client.waitFor(20, TimeUnit.SECONDS)).isTrue();
        Channel.await("it has no session", () -> server.sessionsOf(client.pid()) == 0);
      }
      assertThat(started).isEmpty();
      Channel.await("no slot is taken", () -> server.sessions() == 1);
      Channel.await("no memory is mapped", () -> Channel.engineMappings() == 0);
      Channel.await("no lease is held", () -> blocks.leases() == 0);
      Channel.await("nothing is open", () -> Channel.openDescriptors() <= before);
      assertThat(server.pendingQueries()).isZero();
      System.out.println(
          "KilledClientTest: " + clients + " killed, " + connected + " while connected");
      assertThat(connected).as("killed while they had a session").isGreaterThan(clients / 3);
    } finally {
      for (Process left : started) {
        left.destroyForcibly().waitFor();
      }
    }
  }
}
