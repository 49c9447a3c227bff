package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Role;
import io.orbitkv.api.Epoch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What of the arena is present in a client that has copied nothing yet. */
@Timeout(120)
final class ArenaPopulationTest {
  private static final long BYTES = 130 << 20;

  // Guard: SharedMapping.populate being run for a worker, in all pieces.
  @Test
  void aWorkerHasAllOfItAndKeepsNoThread(@TempDir Path directory) {
    Path socket = directory.resolve("m.sock");
    try (ReferenceBlocks blocks = new ReferenceBlocks(BYTES);
        LocalServer _ = LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks)) {
      try (ManagerClient client = connect(socket, Role.WORKER)) {
        Channel.await("all of it is present", () -> present() == BYTES);
        Channel.await("its thread has ended", () -> threads() == 0);
        client.ping();
      }
      assertThat(present()).as("unmapped").isEqualTo(-1);
      try (ManagerClient client = connect(socket, Role.TOOL)) {
        assertThat(threads()).isZero();
        client.ping();
      }
    }
  }

  // Guard: enter() in SharedMapping.populate. Without it memory is populated that was unmapped.
  @Test
  void aClientThatIsClosedAtOnceLeavesNothingMapped(@TempDir Path directory) {
    Path socket = directory.resolve("m.sock");
    try (ReferenceBlocks blocks = new ReferenceBlocks(BYTES);
        LocalServer _ = LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks)) {
      for (int i = 0; i < 20; i++) {
        connect(socket, Role.WORKER).close();
        Channel.await("its thread has ended", () -> threads() == 0);
        assertThat(present()).isEqualTo(-1);
      }
    }
  }

  private static ManagerClient connect(Path socket, Role role) {
    return ManagerClient.connect(
        socket, ClientOptions.DEFAULTS.withRole(role).withTimeout(Channel.LIMIT));
  }

  private static long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("orbitkv-client-populate"))
        .count();
  }

  /** Bytes of the read-only mapping of the arena that are present; -1 without one. */
  private static long present() {
    try {
      List<String> lines = Files.readAllLines(Path.of("/proc/self/smaps"));
      for (int i = 0; i < lines.size(); i++) {
        if (lines.get(i).contains("memfd:orbitkv-test-arena") && lines.get(i).contains(" r--s ")) {
          while (!lines.get(i).startsWith("Rss:")) {
            i++;
          }
          return Long.parseLong(lines.get(i).replaceAll("[^0-9]", "")) << 10;
        }
      }
      return -1;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
