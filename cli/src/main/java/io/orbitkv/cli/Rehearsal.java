package io.orbitkv.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.bench.LoopShape;
import io.orbitkv.bench.WholePath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Fetches between two small Managers of this process, in a directory of their own, so that the JVM
 * has loaded and compiled the whole way of a block before an engine waits for one. Many small
 * blocks: what is compiled is counted by calls, not by bytes.
 */
final class Rehearsal {
  private static final String OWNER_POOL = "24MiB";
  private static final String ASKED_POOL = "12MiB";

  /** Small, but a whole page on every machine. */
  private static final long BLOCK_BYTES = 64 << 10;

  /** The owner's pool has room for them, that of the Manager that is asked has not. */
  private static final int BLOCKS = 320;

  /** So that the one before, whose release may still be under way, is in the pool as well. */
  private static final int BATCH = 64;

  private static final int SINGLE_FETCHES = 300;
  private static final int FETCHES_AT_ONCE = 10;
  private static final int BATCHES = 100;
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
   * Runs it, for some seconds; when this ends, in whatever way, the Managers have been ended.
   *
   * @return fetches that were done
   * @throws CommandException if there is no room for sockets
   * @throws IOException if the directory can not be removed
   * @throws TransportException if a Manager could not be started, or a fetch was a miss
   */
  int run() throws CommandException, IOException, InterruptedException {
    PrivateDirectory directory;
    try {
      // With the process in its name, for whoever finds one that a killed process has left.
      directory = PrivateDirectory.make("orbitkv-rehearsal-" + ProcessHandle.current().pid() + "-");
    } catch (CommandException e) {
      managers.end();
      throw e;
    }
    try {
      Path owner = start(directory.path(), "owner", OWNER_POOL);
      if (!goesOn.getAsBoolean()) {
        return 0;
      }
      Path asked = start(directory.path(), "asked", ASKED_POOL);
      return meet(owner) && meet(asked) ? fetch(owner, asked) : 0;
    } finally {
      managers.end();
      directory.remove();
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
    try (ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS)) {
      return JsonParser.parseString(client.status()) instanceof JsonObject status
          && status.get("peers") instanceof JsonArray peers
          && !peers.isEmpty();
    }
  }

  private int fetch(Path owner, Path asked) {
    int fetches = 0;
    try (WholePath path = WholePath.open(owner, asked, BLOCK_BYTES, BLOCKS, () -> 0)) {
      long start = System.nanoTime();
      while (fetches < SINGLE_FETCHES && goesOn(start, LIMIT_NANOS)) {
        check(path.warmUp(FETCHES_AT_ONCE, 1));
        fetches += FETCHES_AT_ONCE;
      }
      LoopShape batch = LoopShape.random(BLOCK_BYTES, BATCH, 1);
      for (int i = 0; i < BATCHES && goesOn(start, 2 * LIMIT_NANOS); i++) {
        check(path.measure(batch, 0, 0).failure());
        fetches++;
      }
    }
    return fetches;
  }

  private static void check(String failure) {
    if (!failure.isEmpty()) {
      throw new TransportException(FaultCode.NOT_FOUND, "between two Managers here: " + failure);
    }
  }

  private boolean goesOn(long start, long limitNanos) {
    return goesOn.getAsBoolean() && System.nanoTime() - start < limitNanos;
  }
}
