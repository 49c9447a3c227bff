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
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * Fetches between two small Managers of this process, in a directory of their own, so that the JVM
 * has loaded and compiled the whole way of a block before an engine waits for one. Many small
 * blocks: what is compiled is counted by calls, not by bytes.
 */
final class Rehearsal {
  private static final String OWNER_POOL = "24MiB";
  private static final String ASKED_POOL = "8MiB";
  private static final long BLOCK_BYTES = 16 << 10;

  /** More than the pool of the Manager that is asked has room for. */
  private static final int BLOCKS = 1_024;

  private static final int BATCH = 128;
  private static final int SINGLE_FETCHES = 300;
  private static final int FETCHES_AT_ONCE = 10;
  private static final int BATCHES = 50;
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long ACQUAINTED_NANOS = TimeUnit.SECONDS.toNanos(20);
  private static final long POLL_MILLIS = 20;

  private final RehearsalManagers managers;
  private final BooleanSupplier goesOn;

  /**
   * A rehearsal that was not run yet.
   *
   * @param managers owns the two Managers
   * @param goesOn false as soon as it is wanted no more; asked often
   */
  Rehearsal(RehearsalManagers managers, BooleanSupplier goesOn) {
    this.managers = managers;
    this.goesOn = goesOn;
  }

  /**
   * Runs it, for some seconds.
   *
   * @return fetches that were done
   * @throws IOException if there is no room for sockets
   * @throws TransportException if no block could be fetched
   */
  int run() throws IOException, InterruptedException {
    // With the process in its name, for whoever finds one that a killed process has left.
    Path directory =
        Files.createTempDirectory("orbitkv-rehearsal-" + ProcessHandle.current().pid() + "-");
    try {
      Path owner = start(directory, "owner", OWNER_POOL);
      Path asked = start(directory, "asked", ASKED_POOL);
      return meet(owner) && meet(asked) ? fetch(owner, asked) : 0;
    } finally {
      managers.end();
      remove(directory);
    }
  }

  private Path start(Path directory, String name, String poolBytes) {
    Path socket = directory.resolve(name + ".sock");
    Map<String, String> settings = new HashMap<>();
    settings.put("socket", socket.toString());
    settings.put("host", "127.0.0.1");
    settings.put("port", "0");
    settings.put("pool-bytes", poolBytes);
    settings.put("membership", "local");
    settings.put("registry-directory", directory.resolve("registry").toString());
    settings.put("rehearsal", "off");
    managers.start(settings);
    return socket;
  }

  private boolean meet(Path socket) throws InterruptedException {
    long end = System.nanoTime() + ACQUAINTED_NANOS;
    while (!hasPeer(socket)) {
      if (!goesOn.getAsBoolean()) {
        return false;
      }
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException("the Manager at " + socket + " met no other one");
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
    return true;
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

  private int fetch(Path owner, Path asked) {
    int fetches = 0;
    try (WholePath path = WholePath.open(owner, asked, BLOCK_BYTES, BLOCKS, () -> 0)) {
      long start = System.nanoTime();
      while (fetches < SINGLE_FETCHES && goesOn(start, LIMIT_NANOS)) {
        path.warmUp(FETCHES_AT_ONCE, 1);
        fetches += FETCHES_AT_ONCE;
      }
      LoopShape batch = LoopShape.random(BLOCK_BYTES, BATCH, 1);
      for (int i = 0; i < BATCHES && goesOn(start, 2 * LIMIT_NANOS); i++) {
        var _ = path.measure(batch, 0, 0);
        fetches++;
      }
    }
    return fetches;
  }

  private boolean goesOn(long start, long limitNanos) {
    return goesOn.getAsBoolean() && System.nanoTime() - start < limitNanos;
  }

  private static void remove(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
