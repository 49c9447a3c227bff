package io.orbitkv.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.cli.output.Progress;
import io.orbitkv.cli.replay.Replay;
import io.orbitkv.cli.replay.ReplayOptions;
import io.orbitkv.cli.replay.ReplayReport;
import io.orbitkv.cli.replay.TraceRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Two Managers in a private directory, from their start to their end. Used by one thread; {@link
 * #close} leaves no process behind, and neither does the end of this process. The directory with
 * the Managers' logs goes once {@link #stop} saw them end well.
 */
final class Quickstart implements AutoCloseable {
  private static final Duration READY = Duration.ofSeconds(60);
  private static final Duration ACQUAINTED = Duration.ofSeconds(20);
  private static final Duration END = Duration.ofSeconds(20);
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final Duration OPERATION = Duration.ofSeconds(30);
  private static final long POLL_MILLIS = 50;

  private final Path directory;
  private final List<ManagerProcess> managers = new CopyOnWriteArrayList<>();
  private volatile boolean abandoned;
  private final Thread hook = new Thread(this::abandon, "orbitkv-quickstart-end");

  private Quickstart(Path directory) {
    this.directory = directory;
  }

  /** Makes the directory; starts nothing yet. */
  static Quickstart create() throws CommandException {
    try {
      Quickstart quickstart =
          new Quickstart(Files.createTempDirectory("orbitkv-quickstart-").toAbsolutePath());
      Runtime.getRuntime().addShutdownHook(quickstart.hook);
      return quickstart;
    } catch (IOException e) {
      throw new CommandException(
          "no temporary directory could be made (" + e.getMessage() + "); set TMPDIR", e);
    }
  }

  /**
   * Starts the Managers and waits until both serve and know each other.
   *
   * @param poolBytes size of each pool, as the Manager's option takes it
   */
  void start(String poolBytes) throws CommandException, InterruptedException {
    for (String name : List.of("a", "b")) {
      managers.add(ManagerProcess.start(name, directory, poolBytes));
    }
    for (ManagerProcess manager : managers) {
      manager.awaitReady(READY);
    }
    for (ManagerProcess manager : managers) {
      awaitPeer(manager);
    }
  }

  private static void awaitPeer(ManagerProcess manager)
      throws CommandException, InterruptedException {
    long end = System.nanoTime() + ACQUAINTED.toNanos();
    try (ManagerClient client = ManagerClient.connect(manager.socket(), ClientOptions.DEFAULTS)) {
      while (!(JsonParser.parseString(client.status()) instanceof JsonObject status
          && status.get("peers") instanceof JsonArray peers
          && !peers.isEmpty())) {
        if (System.nanoTime() - end > 0) {
          throw new CommandException(
              "Manager at %s: met no other Manager in %d s; its log %s says why"
                  .formatted(manager.socket(), ACQUAINTED.toSeconds(), manager.log()));
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    }
  }

  /** Replays requests against both, in turn. */
  ReplayReport replay(List<TraceRequest> requests, long blockBytes, Progress progress)
      throws CommandException, InterruptedException {
    ReplayOptions options =
        new ReplayOptions(ReplayOptions.MAX_SPEED, blockBytes, "quickstart", 1, OPERATION, 1);
    List<Path> sockets = managers.stream().map(ManagerProcess::socket).toList();
    try (Replay replay = Replay.connect(requests, sockets, options, progress)) {
      ReplayReport report = replay.run();
      String stopped = replay.stopped();
      if (stopped != null) {
        throw new CommandException(stopped);
      }
      return report;
    }
  }

  /**
   * Ends both by SIGTERM and removes the directory.
   *
   * @throws CommandException unless each ended in time with 0
   */
  void stop() throws CommandException, InterruptedException {
    managers.forEach(ManagerProcess::terminate);
    for (ManagerProcess manager : managers) {
      manager.awaitEnd(END);
    }
    managers.clear();
    removeDirectory();
  }

  /** Where the Managers' logs are, if they are still there. */
  String logs() {
    return managers.stream()
        .map(manager -> manager.log().toString())
        .collect(Collectors.joining(", "));
  }

  /** Ends what still runs. The logs stay. */
  @Override
  public void close() {
    endAll();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // This process is ending, and the hook does the same.
    }
  }

  /** Whether this process is being ended from outside: what fails then is no news. */
  boolean abandoned() {
    return abandoned;
  }

  // After Ctrl-C nobody wants the logs.
  private void abandon() {
    abandoned = true;
    endAll();
    removeDirectory();
  }

  private void endAll() {
    managers.forEach(ManagerProcess::terminate);
    managers.forEach(manager -> manager.kill(PATIENCE));
  }

  private void removeDirectory() {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      System.err.println("orbitkv: " + directory + ": cannot be removed (" + e + "); remove it");
    }
  }
}
