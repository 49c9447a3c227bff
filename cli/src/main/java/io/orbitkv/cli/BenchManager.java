package io.orbitkv.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * One Manager in a private directory, which is removed with it. Used by one thread; {@link #close}
 * leaves no process behind, and neither does the end of this process.
 */
final class BenchManager implements AutoCloseable {
  private static final Duration READY = Duration.ofSeconds(60);
  private static final Duration END = Duration.ofSeconds(10);
  private static final String POOL_BYTES = "64MiB";

  private final Path directory;
  private final ManagerProcess manager;
  private final Thread hook = new Thread(this::end, "orbitkv-bench-end");

  private BenchManager(Path directory, ManagerProcess manager) {
    this.directory = directory;
    this.manager = manager;
  }

  /** Starts it and waits until it serves. */
  static BenchManager start() throws CommandException, InterruptedException {
    Path directory;
    try {
      directory = Files.createTempDirectory("orbitkv-bench-").toAbsolutePath();
    } catch (IOException e) {
      throw new CommandException(
          "no temporary directory could be made (" + e.getMessage() + "); set TMPDIR", e);
    }
    BenchManager started =
        new BenchManager(
            directory, ManagerProcess.start("bench", directory, POOL_BYTES, List.of()));
    Runtime.getRuntime().addShutdownHook(started.hook);
    boolean ready = false;
    try {
      started.manager.awaitReady(READY);
      ready = true;
      return started;
    } finally {
      if (!ready) {
        started.close();
      }
    }
  }

  /** Private to this user; may be used until {@link #close}. */
  Path directory() {
    return directory;
  }

  Path socket() {
    return manager.socket();
  }

  long pid() {
    return manager.handle().pid();
  }

  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // This process is ending, and the hook does the same.
    }
  }

  private void end() {
    manager.terminate();
    manager.kill(END);
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      System.err.println("orbitkv: " + directory + ": cannot be removed (" + e + "); remove it");
    }
  }
}
