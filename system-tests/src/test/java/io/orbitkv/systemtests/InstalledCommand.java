package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs the built {@code orbitkv} command as a person would: as processes of their own. */
final class InstalledCommand {
  /** How one run ended. */
  record Ended(int code, String out, String err) {}

  private static final int PATIENCE_SECONDS = 120;

  private final Path directory;
  private int runs;

  /** Keeps the output of its runs in a directory. */
  InstalledCommand(Path directory) {
    this.directory = directory;
  }

  /** A command that was started; its output goes to files. */
  record Started(Process process, Path out, Path err) {
    /** Waits until its standard output, or standard error, has a text. */
    void awaitOutput(String text) throws IOException, InterruptedException {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
      while (!(Files.readString(out) + Files.readString(err)).contains(text)) {
        assertThat(System.nanoTime() < end && process.isAlive())
            .as("'%s' came before the time was over or the process ended: %s", text, read(err))
            .isTrue();
        process.waitFor(20, TimeUnit.MILLISECONDS);
      }
    }

    /** Waits for its end. */
    Ended awaitEnd() throws InterruptedException {
      assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).as("ended in time").isTrue();
      return new Ended(process.exitValue(), read(out), read(err));
    }

    private static String read(Path file) {
      try {
        return Files.readString(file);
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** Starts one. */
  Started start(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("orbitkv.home"), "bin", "orbitkv").toString());
    command.addAll(List.of(arguments));
    Path out = directory.resolve("run-" + ++runs + ".out");
    Path err = directory.resolve("run-" + runs + ".err");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().keySet().removeIf(key -> key.startsWith("ORBITKV_"));
    builder.environment().put("TMPDIR", directory.toString());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("ORBITKV_JAVA_OPTS", "-Djava.io.tmpdir=" + directory);
    return new Started(builder.start(), out, err);
  }

  /** Runs one to its end. */
  Ended run(String... arguments) throws IOException, InterruptedException {
    return start(arguments).awaitEnd();
  }

  /** Starts a Manager on a socket of the directory and waits until it serves. */
  Started manager(String name) throws IOException, InterruptedException {
    Started manager =
        start(
            "manager",
            "--socket",
            socket(name),
            "--registry-directory",
            directory.resolve("registry").toString(),
            "--pool-bytes",
            "256MiB");
    manager.awaitOutput("ready ");
    return manager;
  }

  /** The socket of a Manager. */
  String socket(String name) {
    return directory.resolve(name + ".sock").toString();
  }
}
