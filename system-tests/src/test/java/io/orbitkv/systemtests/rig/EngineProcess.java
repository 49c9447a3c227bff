package io.orbitkv.systemtests.rig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * An engine in a process of its own, for tests that kill it. Runs one task of {@link EngineMain}.
 */
public final class EngineProcess implements AutoCloseable {
  private static final Duration SAYS = Duration.ofSeconds(30);

  private final Process process;
  private final Path out;
  private final Path err;

  private EngineProcess(Process process, Path out, Path err) {
    this.process = process;
    this.out = out;
    this.err = err;
  }

  static EngineProcess start(Path directory, Path socket, String task) {
    try {
      Path out = Files.createTempFile(directory, "engine-", ".out");
      Path err = Files.createTempFile(directory, "engine-", ".err");
      List<String> line =
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-Xmx96m",
              "-XX:+UseSerialGC",
              "-XX:TieredStopAtLevel=1",
              "--enable-native-access=ALL-UNNAMED",
              "-cp",
              System.getProperty("java.class.path"),
              EngineMain.class.getName(),
              socket.toString(),
              task);
      Process process =
          new ProcessBuilder(line).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
      return new EngineProcess(process, out, err);
    } catch (IOException e) {
      throw new UncheckedIOException("an engine process was not started", e);
    }
  }

  /** Waits until it says that word. */
  public EngineProcess awaitWord(String word) {
    Await.until(
        "the engine process says " + word,
        SAYS,
        () -> {
          if (!process.isAlive()) {
            throw new AssertionError(
                "the engine process ended with " + process.exitValue() + ": " + read(err));
          }
          return read(out).lines().anyMatch(word::equals);
        },
        () -> read(out) + read(err));
    return this;
  }

  /** Its process id. */
  public long pid() {
    return process.pid();
  }

  /** Sends SIGKILL and waits for the exit. */
  public void kill() {
    process.destroyForcibly();
    process.onExit().join();
  }

  @Override
  public void close() {
    kill();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
