package io.orbitkv.cli;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * An {@code orbitkv manager} that this process started and will end. Used by one thread, but for
 * {@link #terminate} and {@link #kill}, which any thread may call at any time.
 */
final class ManagerProcess {
  private static final Path PARENT_DEATH = Path.of("/usr/bin/setpriv");
  private static final long POLL_MILLIS = 10;

  private final String name;
  private final Process process;
  private final Path socket;
  private final Path log;
  private final Path output;

  private ManagerProcess(String name, Process process, Path directory) {
    this.name = name;
    this.process = process;
    this.socket = socketIn(directory, name);
    this.log = logIn(directory, name);
    this.output = outputIn(directory, name);
  }

  /**
   * Starts one; does not wait until it is ready.
   *
   * @param name its name in messages and the name of its files
   * @param directory private to this user: holds its socket, its log and the registry
   */
  static ManagerProcess start(String name, Path directory, String poolBytes)
      throws CommandException {
    return start(name, directory, poolBytes, List.of());
  }

  /** As above, with further options of the Manager. */
  static ManagerProcess start(String name, Path directory, String poolBytes, List<String> further)
      throws CommandException {
    List<String> command = endingWithThis(launcher());
    command.addAll(List.of("manager", "--socket", socketIn(directory, name).toString()));
    command.addAll(List.of("--host", "127.0.0.1", "--port", "0", "--pool-bytes", poolBytes));
    command.addAll(List.of("--membership", "local"));
    command.addAll(further);
    command.addAll(List.of("--registry-directory", directory.resolve("registry").toString()));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectInput(new File("/dev/null"))
            .redirectOutput(outputIn(directory, name).toFile())
            .redirectError(logIn(directory, name).toFile());
    // The caller's own Manager settings are not meant for these two.
    builder
        .environment()
        .keySet()
        .removeIf(key -> key.startsWith("ORBITKV_") && !key.equals("ORBITKV_JAVA_OPTS"));
    try {
      return new ManagerProcess(name, builder.start(), directory);
    } catch (IOException e) {
      throw new CommandException(
          "Manager " + name + ": cannot be started (" + e.getMessage() + "); check " + command, e);
    }
  }

  private static Path socketIn(Path directory, String name) {
    return directory.resolve(name + ".sock");
  }

  private static Path logIn(Path directory, String name) {
    return directory.resolve(name + ".log");
  }

  private static Path outputIn(Path directory, String name) {
    return directory.resolve(name + ".out");
  }

  /** A command whose process ends with this one, even by a SIGKILL of it, where that can be had. */
  static List<String> endingWithThis(List<String> command) {
    List<String> all = new ArrayList<>();
    if (Files.isExecutable(PARENT_DEATH)) {
      all.addAll(List.of(PARENT_DEATH.toString(), "--pdeathsig", "TERM"));
    }
    all.addAll(command);
    return all;
  }

  /** The words that start this program, as this process was started. */
  static List<String> launcher() {
    String home = System.getProperty("orbitkv.home");
    if (home != null && Files.isExecutable(Path.of(home, "bin", "orbitkv"))) {
      return List.of(Path.of(home, "bin", "orbitkv").toString());
    }
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // A debugger or a profiler of this process would fight over its port or file.
      if (!argument.startsWith("-agent") && !argument.startsWith("-javaagent")) {
        command.add(argument);
      }
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    return command;
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  Path socket() {
    return socket;
  }

  /** Where its log goes. */
  Path log() {
    return log;
  }

  /**
   * Waits for its line {@code ready}.
   *
   * @throws CommandException if it ends before, or the time is over
   */
  void awaitReady(Duration limit) throws CommandException, InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    while (!ready()) {
      if (process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS) && !ready()) {
        throw new CommandException(
            "Manager "
                + name
                + ": ended with "
                + process.exitValue()
                + " at start: "
                + lastWords());
      }
      if (System.nanoTime() - end > 0) {
        throw new CommandException(
            "Manager " + name + ": not ready after " + limit.toSeconds() + " s: " + lastWords());
      }
    }
  }

  private boolean ready() throws CommandException {
    try {
      return Files.readString(output).lines().anyMatch(line -> line.startsWith("ready "));
    } catch (IOException e) {
      throw new CommandException(output + ": cannot be read (" + e.getMessage() + ")", e);
    }
  }

  private String lastWords() {
    try {
      List<String> lines =
          new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
              .lines()
              .filter(line -> !line.isBlank())
              .toList();
      return lines.isEmpty() ? "its log is empty" : lines.getLast();
    } catch (IOException e) {
      return "its log cannot be read: " + e.getMessage();
    }
  }

  /** Asks it to end (SIGTERM); does not wait. */
  void terminate() {
    process.destroy();
  }

  /**
   * Waits for its end.
   *
   * @throws CommandException if it does not end in time, or not with 0
   */
  void awaitEnd(Duration limit) throws CommandException, InterruptedException {
    if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new CommandException(
          "Manager "
              + name
              + ": did not end within "
              + limit.toSeconds()
              + " s of SIGTERM: "
              + lastWords());
    }
    if (process.exitValue() != 0) {
      throw new CommandException(
          "Manager " + name + ": ended with " + process.exitValue() + ", not 0: " + lastWords());
    }
  }

  /** Waits for its end for a while, then takes it by force. */
  void kill(Duration patience) {
    try {
      if (process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
  }
}
