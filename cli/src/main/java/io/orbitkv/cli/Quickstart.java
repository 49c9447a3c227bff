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
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Two Managers in a private directory, from their start to their end. Used by one thread; {@link
 * #close} leaves no process behind, and neither does the end of this process. The directory with
 * the Managers' logs goes with it, unless {@link #keptLogs} was told.
 */
final class Quickstart implements AutoCloseable {
  private static final Duration READY = Duration.ofSeconds(60);
  private static final Duration ACQUAINTED = Duration.ofSeconds(20);
  private static final Duration END = Duration.ofSeconds(20);
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final Duration OPERATION = Duration.ofSeconds(30);
  private static final List<String> NAMES = List.of("a", "b");
  private static final long POLL_MILLIS = 50;

  private final PrivateDirectory directory;
  private final List<ManagerProcess> managers = new CopyOnWriteArrayList<>();
  private volatile boolean abandoned;
  private boolean logsKept;
  private final Thread hook = new Thread(this::abandon, "orbitkv-quickstart-end");

  private Quickstart(PrivateDirectory directory) {
    this.directory = directory;
  }

  /** Makes the directory; starts nothing yet. */
  static Quickstart create() throws CommandException {
    Quickstart quickstart = new Quickstart(PrivateDirectory.make("orbitkv-quickstart-"));
    Runtime.getRuntime().addShutdownHook(quickstart.hook);
    return quickstart;
  }

  /**
   * Starts the Managers and waits until both serve and know each other.
   *
   * @param poolBytes size of each pool, as the Manager's option takes it
   */
  void start(String poolBytes) throws CommandException, InterruptedException {
    start(List.of(poolBytes, poolBytes), List.of());
  }

  /** As above, each with its own pool, and both with further options of the Manager. */
  void start(List<String> poolBytes, List<String> further)
      throws CommandException, InterruptedException {
    for (int i = 0; i < NAMES.size(); i++) {
      start(NAMES.get(i), poolBytes.get(i), further);
    }
    for (ManagerProcess manager : managers) {
      manager.awaitReady(READY);
    }
    for (ManagerProcess manager : managers) {
      awaitPeer(manager);
    }
  }

  // Nothing is started once the end has begun: who would end it?
  private synchronized void start(String name, String poolBytes, List<String> further)
      throws CommandException {
    if (abandoned) {
      throw new CommandException("quickstart was ended");
    }
    managers.add(ManagerProcess.start(name, directory.path(), poolBytes, further));
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

  /** The Managers, in the order of their start. */
  List<ManagerProcess> managers() {
    return List.copyOf(managers);
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

  /** Whether a request has a block that then only the Manager has whose turn it is not. */
  static boolean movesBlocks(List<TraceRequest> requests) {
    List<Set<Long>> known = NAMES.stream().<Set<Long>>map(_ -> new HashSet<>()).toList();
    for (int i = 0; i < requests.size(); i++) {
      Set<Long> own = known.get(i % known.size());
      Set<Long> other = known.get((i + 1) % known.size());
      for (Long hash : requests.get(i).hashes()) {
        if (!own.contains(hash) && other.contains(hash)) {
          return true;
        }
      }
      own.addAll(requests.get(i).hashes());
    }
    return false;
  }

  /**
   * Ends both by SIGTERM.
   *
   * @throws CommandException unless each ended in time with 0
   */
  void stop() throws CommandException, InterruptedException {
    managers.forEach(ManagerProcess::terminate);
    for (ManagerProcess manager : managers) {
      manager.awaitEnd(END);
    }
    managers.clear();
  }

  /** Where the Managers' logs are, to be put behind a message; they stay from now on. */
  String keptLogs() {
    if (managers.isEmpty()) {
      return "";
    }
    logsKept = true;
    return managers.stream()
        .map(manager -> manager.log().toString())
        .collect(Collectors.joining(", ", " (logs: ", ")"));
  }

  /** Ends what still runs and removes the directory. */
  @Override
  public void close() {
    endAll();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
      if (!logsKept) {
        directory.removeOrTell();
      }
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
    synchronized (this) {
      abandoned = true;
    }
    endAll();
    directory.removeOrTell();
  }

  private void endAll() {
    managers.forEach(ManagerProcess::terminate);
    managers.forEach(manager -> manager.kill(PATIENCE));
  }
}
