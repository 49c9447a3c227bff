package io.orbitkv.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.api.TransportException;
import io.orbitkv.bench.LoopShape;
import io.orbitkv.bench.WholePath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Reads between two Managers of this process, so that a recording has the classes of the whole
 * path. Used while packaging only; the Managers end with the process.
 */
final class PeerReadTraining {
  private static final long BLOCK_BYTES = 64 << 10;
  private static final int BLOCKS = 192;
  private static final int BATCH = 32;
  private static final int READS = 500;
  private static final double SECONDS = 1;
  private static final long ACQUAINTED_NANOS = TimeUnit.SECONDS.toNanos(20);
  private static final long POLL_MILLIS = 20;

  private PeerReadTraining() {}

  /**
   * Trains.
   *
   * @throws IOException if there is no room for sockets
   * @throws TransportException if no block could be read
   */
  static void run() throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("orbitkv-training");
    Path owner = directory.resolve("owner.sock");
    Path asked = directory.resolve("asked.sock");
    start(directory, owner, "24MiB");
    start(directory, asked, "8MiB");
    awaitPeer(owner);
    awaitPeer(asked);
    try (WholePath path = WholePath.open(owner, asked, BLOCK_BYTES, BLOCKS, () -> 0)) {
      path.warmUp(READS, SECONDS);
      var _ = path.measure(LoopShape.random(BLOCK_BYTES, BATCH, 1), 0, SECONDS);
    } finally {
      remove(directory);
    }
  }

  private static void remove(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  private static void start(Path directory, Path socket, String poolBytes) {
    List<String> command =
        List.of(
            "manager",
            "--socket",
            socket.toString(),
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--pool-bytes",
            poolBytes,
            "--membership",
            "local",
            "--registry-directory",
            directory.resolve("registry").toString());
    Thread.ofPlatform()
        .daemon()
        .name("training")
        .start(() -> Main.run(command.toArray(String[]::new)));
  }

  private static void awaitPeer(Path socket) throws InterruptedException {
    long end = System.nanoTime() + ACQUAINTED_NANOS;
    while (!hasPeer(socket)) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException("the Manager at " + socket + " met no other one");
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  private static boolean hasPeer(Path socket) {
    if (!Files.exists(socket)) {
      return false;
    }
    try (ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS)) {
      return JsonParser.parseString(client.status()) instanceof JsonObject status
          && status.get("peers") instanceof JsonArray peers
          && !peers.isEmpty();
    } catch (TransportException e) {
      return false;
    }
  }
}
