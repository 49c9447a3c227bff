package io.orbitkv.systemtests.rig;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What one run of the command came to.
 *
 * @param line the command line
 * @param exit its exit code
 * @param out its standard output
 * @param err its standard error
 */
public record Command(String line, int exit, String out, String err) {
  private static final Path HOME =
      Path.of(System.getProperty("orbitkv.home", "../cli/target/orbitkv"))
          .toAbsolutePath()
          .normalize();

  /**
   * Serial collector and cheap compiler: a test's processes are many, small and short. What they
   * have off heap is counted for {@link ProcessUse}.
   */
  private static final String JVM =
      "-Xmx160m -XX:-UseG1GC -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
          + " -XX:NativeMemoryTracking=summary";

  /** Where the distribution is. */
  public static Path home() {
    return HOME;
  }

  /** A process of the distribution that was not started yet, clean of this one's settings. */
  static ProcessBuilder builder(List<String> prefix, List<String> arguments) {
    return builder(HOME, prefix, arguments);
  }

  private static ProcessBuilder builder(Path home, List<String> prefix, List<String> arguments) {
    Path launcher = home.resolve("bin").resolve("orbitkv");
    if (!Files.isExecutable(launcher)) {
      throw new IllegalStateException(
          launcher + " is missing: build the cli module first (mvn package)");
    }
    List<String> line = new ArrayList<>(prefix);
    line.add(launcher.toString());
    line.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(line);
    cleanEnvironment(builder);
    return builder;
  }

  /** Takes this process's settings of OrbitKV out, and says how its JVMs are to run. */
  static void cleanEnvironment(ProcessBuilder builder) {
    builder.environment().keySet().removeIf(name -> name.startsWith("ORBITKV_"));
    builder.environment().put("ORBITKV_JAVA_OPTS", JVM);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
  }

  /**
   * Runs a command to its end.
   *
   * @param home where it is installed
   * @param directory where its output is kept meanwhile
   * @throws AssertionError if it does not end by the deadline; it is killed then
   */
  static Command run(Path home, Path directory, Duration deadline, List<String> arguments) {
    String line = "orbitkv " + String.join(" ", arguments);
    try {
      Path out = Files.createTempFile(directory, "command-", ".out");
      Path err = Files.createTempFile(directory, "command-", ".err");
      ProcessBuilder builder = builder(home, List.of(), arguments).directory(directory.toFile());
      // Redirected, because a full pipe that nobody reads would hang the command.
      Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
      try {
        process.getOutputStream().close();
        if (!process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new AssertionError(
              line + " did not end in " + deadline + "; it said: " + text(out) + text(err));
        }
        return new Command(line, process.exitValue(), text(out), text(err));
      } finally {
        process.destroyForcibly();
        Files.delete(out);
        Files.delete(err);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(line, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + line, e);
    }
  }

  /** Standard output as one JSON object. */
  public JsonObject json() {
    return JsonParser.parseString(out).getAsJsonObject();
  }

  /** This, if it ended with 0; else an {@link AssertionError} with all that it said. */
  public Command succeeded() {
    if (exit != 0) {
      throw new AssertionError(line + " ended with " + exit + ": " + err + out);
    }
    return this;
  }

  private static String text(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.UTF_8);
  }
}
