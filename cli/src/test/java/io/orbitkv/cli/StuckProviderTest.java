package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.cli.sample.StuckProvider;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real process whose provider keeps a lock for ever, or lacks what it needs. */
class StuckProviderTest {
  private static final int PATIENCE_SECONDS = 60;

  @TempDir private Path folder;
  private final List<Process> processes = new ArrayList<>();
  private Path out = Path.of("");
  private Path err = Path.of("");

  @BeforeEach
  void makePlugin() throws IOException {
    Files.createDirectory(folder.resolve("plugins"));
    SamplePlugins.jar(
        folder.resolve("plugins"),
        "stuck",
        StuckProvider.class,
        List.of("StuckProvider$StuckTransport", "StuckProvider$StuckRegistration"));
    out = folder.resolve("out");
    err = folder.resolve("err");
  }

  @AfterEach
  void end() {
    processes.forEach(Process::destroyForcibly);
  }

  private Process manager(String... more) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                "io.orbitkv.cli.Main",
                "manager",
                "--plugin-dir",
                folder.resolve("plugins").toString(),
                "--peer-transfer-backend",
                "stuck",
                "--membership",
                "none",
                "--pool-bytes",
                "1MiB",
                "--socket",
                folder.resolve("m.sock").toString()));
    command.addAll(List.of(more));
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(Redirect.to(out.toFile()))
            .redirectError(Redirect.to(err.toFile()))
            .start();
    processes.add(process);
    return process;
  }

  private static void awaitText(Process process, Path file, String text) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!Files.readString(file).contains(text)) {
      assertThat(process.isAlive() && System.nanoTime() < end)
          .as("%s has %s: %s", file, text, Files.readString(file))
          .isTrue();
      process.waitFor(20, TimeUnit.MILLISECONDS);
    }
  }

  // Guard: Serving.cutShort starting haltLater before it asks what is held.
  @Test
  void aSecondSignalEndsItThoughWhatIsHeldCanNotBeHad() throws Exception {
    Process process = manager();
    awaitText(process, out, "ready ");
    process.destroy();
    awaitText(process, err, "shutdown: withdrawn");
    process.destroy();
    assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(1);
    assertThat(Files.readString(err))
        .contains(
            "orbitkv: second SIGTERM: the shutdown is cut short; given up: whatever is still held;"
                + " its list could not be had in time");
  }

  // Guard: Engine.open catching LinkageError.
  @Test
  void aLibraryThatIsMissingIsOneLine() throws Exception {
    Process process = manager("--stuck-lacks", "nowhere");
    assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(1);
    assertThat(Files.readString(err).lines().filter(line -> !line.startsWith("WARNING")))
        .singleElement()
        .asString()
        .startsWith("orbitkv: provider stuck: its open() threw java.lang.UnsatisfiedLinkError: ")
        .contains("nowhere");
  }

  // Guard: Main.run catching Error.
  @Test
  void anErrorThatNothingElseCatchesIsOneLine() throws Exception {
    Process process = manager("--stuck-lacks", "sense");
    assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(1);
    assertThat(Files.readString(err).lines().filter(line -> !line.startsWith("WARNING")))
        .singleElement()
        .asString()
        .startsWith("orbitkv: java.lang.AssertionError: it has no sense; run again with ");
  }
}
