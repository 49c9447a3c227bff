package io.orbitkv.systemtests.rig;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The tests of the Python client, run by {@code python3} with Managers of the distribution. */
public final class PythonSuite {
  /**
   * How one test of it ended.
   *
   * @param test module, class and method
   * @param outcome passed, failed or skipped
   * @param detail why it failed or was skipped; else empty
   */
  public record Result(String test, String outcome, String detail) {}

  private static final Duration DEADLINE = Duration.ofMinutes(8);
  private static final Duration QUESTION = Duration.ofSeconds(30);
  private static final Path FOLDER =
      Path.of(System.getProperty("orbitkv.root", "..")).resolve("adapter/python").normalize();

  private PythonSuite() {}

  /** What this host lacks to run it; empty if nothing. */
  public static Optional<String> lacks(Path directory) {
    Path said = directory.resolve("python-version");
    try {
      Process process =
          new ProcessBuilder("python3", "-c", "import sys; print(sys.version_info >= (3, 10))")
              .redirectErrorStream(true)
              .redirectOutput(said.toFile())
              .start();
      boolean ended = await(process, QUESTION) && process.exitValue() == 0;
      return ended && Files.readString(said).strip().equals("True")
          ? Optional.empty()
          : Optional.of("python3 is older than 3.10 or does not run: install Python 3.10");
    } catch (IOException _) {
      return Optional.of("no python3 on the path: run scripts/install-test-tools");
    }
  }

  /**
   * Runs all of it.
   *
   * @param directory where its output goes
   * @return one result a test, in their order; a failed one more if the suite itself failed
   */
  public static List<Result> run(Path directory) {
    Path report = directory.resolve("python-report");
    Path log = directory.resolve("python-log");
    try {
      ProcessBuilder builder =
          new ProcessBuilder("python3", "-B", "-X", "dev", "-m", "tests.report", report.toString())
              .directory(FOLDER.toFile())
              .redirectErrorStream(true)
              .redirectOutput(log.toFile());
      Command.cleanEnvironment(builder);
      builder.environment().put("ORBITKV_TEST_HOME", Command.home().toAbsolutePath().toString());
      Process process = builder.start();
      boolean ended = await(process, DEADLINE);
      List<Result> results = new ArrayList<>();
      if (Files.exists(report)) {
        Files.readAllLines(report).forEach(line -> results.add(parse(line)));
      }
      boolean told = results.stream().anyMatch(result -> result.outcome().equals("failed"));
      if (!ended || (process.exitValue() != 0 && !told) || results.isEmpty()) {
        String why = ended ? "ended with " + process.exitValue() : "did not end in " + DEADLINE;
        results.add(new Result("tests.report", "failed", why + ": " + Files.readString(log)));
      }
      return results;
    } catch (IOException e) {
      throw new UncheckedIOException("tests of the Python client", e);
    }
  }

  private static Result parse(String line) {
    JsonObject json = JsonParser.parseString(line).getAsJsonObject();
    return new Result(
        json.get("test").getAsString(),
        json.get("outcome").getAsString(),
        json.get("detail").getAsString());
  }

  private static boolean await(Process process, Duration deadline) {
    try {
      return process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for python3", e);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }
}
