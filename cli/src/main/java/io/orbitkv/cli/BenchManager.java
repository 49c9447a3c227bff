package io.orbitkv.cli;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * One Manager in a private directory, which is removed with it. Used by one thread; {@link #close}
 * leaves no process behind, and neither does the end of this process.
 */
final class BenchManager implements AutoCloseable {
  private static final Duration READY = Duration.ofSeconds(60);
  private static final Duration END = Duration.ofSeconds(10);
  private static final String POOL_BYTES = "64MiB";

  private final PrivateDirectory directory;
  private final ManagerProcess manager;
  private final Thread hook = new Thread(this::end, "orbitkv-bench-end");

  private BenchManager(PrivateDirectory directory, ManagerProcess manager) {
    this.directory = directory;
    this.manager = manager;
  }

  /** Starts it and waits until it serves. */
  static BenchManager start() throws CommandException, InterruptedException {
    PrivateDirectory directory = PrivateDirectory.make("orbitkv-bench-");
    BenchManager started =
        new BenchManager(
            directory, ManagerProcess.start("bench", directory.path(), POOL_BYTES, List.of()));
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
    return directory.path();
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
    directory.removeOrTell();
  }
}
