package io.orbitkv.systemtests;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code orbitkv manager} of the distribution, as processes. */
class ManagerCommandTest {
  private static final Path LAUNCHER =
      Path.of(String.valueOf(System.getProperty("orbitkv.home")), "bin", "orbitkv");
  private static final Pattern READY =
      Pattern.compile(
          "ready socket=(\\S+) control=127\\.0\\.0\\.1:(\\d+) endpoint=orbitte\\+tcp://127\\.0\\.0\\.1:\\d+"
              + " backend=orbitte-tcp epoch=[0-9a-f]{32}");
  private static final long PATIENCE_S = 90;

  @TempDir private Path work;
  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void endWhatIsLeft() throws InterruptedException {
    for (Process process : started) {
      // In order first, so that no socket is left in /tmp.
      process.toHandle().destroy();
      if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    }
  }

  @Test
  void saysWhenItServesAndEndsInOrderOnSigterm() throws Exception {
    Process manager = start("a", "--pool-bytes", "16MiB");
    BufferedReader out = manager.inputReader(UTF_8);
    Matcher ready = READY.matcher(String.valueOf(out.readLine()));
    assertThat(ready.matches()).as(errors("a")).isTrue();
    Path socket = Path.of(ready.group(1));
    assertThat(socket).exists();
    assertThat(socket.toString()).isEqualTo("/tmp/orbitkv-127.0.0.1-" + ready.group(2) + ".sock");

    // Not destroy() of the process, which closes its streams.
    manager.toHandle().destroy();

    assertThat(end(manager)).as(errors("a")).isZero();
    assertThat(out.readLine()).isNull();
    assertThat(socket).doesNotExist();
  }

  @Test
  void equalConfigurationsWithPortZeroPublishDifferentPorts() throws Exception {
    Process first = start("a", "--json", "--pool-bytes", "16MiB");
    Process second = start("b", "--json", "--pool-bytes", "16MiB");

    JsonObject one = ready(first, "a");
    JsonObject two = ready(second, "b");

    assertThat(one.get("event").getAsString()).isEqualTo("ready");
    for (String different : List.of("socket", "control", "endpoint", "epoch")) {
      assertThat(one.get(different)).as(different).isNotEqualTo(two.get(different));
    }
  }

  @Test
  void anOccupiedPortIsNamed() throws Exception {
    try (ServerSocket occupied = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = String.valueOf(occupied.getLocalPort());

      Process manager = start("a", "--pool-bytes", "16MiB", "--port", port, "--log-level", "error");

      assertThat(end(manager)).isEqualTo(1);
      assertThat(errors("a")).startsWith("orbitkv: ").contains("127.0.0.1:" + port).hasLineCount(1);
    }
  }

  @Test
  void aWildcardIsNotPublished() throws Exception {
    Process manager = start("a", "--host", "0.0.0.0");

    assertThat(end(manager)).isEqualTo(2);
    assertThat(errors("a"))
        .isEqualTo(
            "orbitkv: --host: '0.0.0.0' is a wildcard, which no peer can connect to; name this"
                + " host's address with --advertise\n");
  }

  private Process start(String name, String... more) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                LAUNCHER.toString(),
                "manager",
                "--registry-directory",
                work.resolve("registry-" + name).toString()));
    command.addAll(List.of(more));
    Process process =
        new ProcessBuilder(command).redirectError(work.resolve(name + ".err").toFile()).start();
    started.add(process);
    return process;
  }

  private JsonObject ready(Process manager, String name) throws IOException {
    String line = manager.inputReader(UTF_8).readLine();
    assertThat(line).as(errors(name)).isNotNull();
    return JsonParser.parseString(line).getAsJsonObject();
  }

  private static int end(Process process) throws InterruptedException {
    assertThat(process.waitFor(PATIENCE_S, TimeUnit.SECONDS)).as("it ended").isTrue();
    return process.exitValue();
  }

  private String errors(String name) throws IOException {
    return Files.readString(work.resolve(name + ".err"));
  }
}
