package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.systemtests.rig.Command;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Rig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Commands and a Manager that {@code ORBITKV_CHANNEL_CONFIG} puts into an isolated domain. */
final class ChannelDomainTest {
  private static final String VARIABLE = "ORBITKV_CHANNEL_CONFIG=";

  @RegisterExtension final Rig rig = new Rig();

  private Path socket;
  private Path registry;
  private Path domain;

  @BeforeEach
  void make() throws IOException {
    Path folder = Files.createDirectory(rig.directory().resolve("run"));
    registry =
        Files.createDirectory(
            rig.directory().resolve("domain-registry"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    socket = folder.resolve("m.sock");
    domain =
        Files.writeString(
            rig.directory().resolve("a.channel"),
            "socket=%s\nregistry-directory=%s\n".formatted(socket, registry));
  }

  private record Run(int exit, String out, String err) {}

  private Run run(List<String> variables, String... arguments) throws Exception {
    List<String> line = new ArrayList<>(List.of("env", "--unset=ORBITKV_SOCKET"));
    line.addAll(variables);
    line.add(Command.home().resolve("bin/orbitkv").toString());
    line.addAll(List.of(arguments));
    Path out = Files.createTempFile(rig.directory(), "run", ".out");
    Path err = Files.createTempFile(rig.directory(), "run", ".err");
    ProcessBuilder builder = new ProcessBuilder(line);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("%s ends", line).isTrue();
      return new Run(
          process.exitValue(),
          Files.readString(out, StandardCharsets.UTF_8),
          Files.readString(err, StandardCharsets.UTF_8));
    } finally {
      process.destroyForcibly();
    }
  }

  private void refused(List<String> variables, List<String> words, String... arguments)
      throws Exception {
    Run run = run(variables, arguments);
    assertThat(run.exit()).as(run.err()).isNotZero();
    assertThat(run.err().strip()).hasLineCount(1).contains(words);
  }

  private String variable(Path file) {
    return VARIABLE + file;
  }

  // Guards: DomainSettings.apply and SocketOption.path, by which all meet without a flag.
  @Test
  void theManagerAndTheCommandsMeetAtTheDomainsSocket() throws Exception {
    ManagerProcess manager =
        rig.launchIn(
                List.of("env", variable(domain)),
                "a",
                "--socket",
                socket.toString(),
                "--registry-directory",
                registry.toString())
            .awaitReady();
    assertThat(manager.socket()).isEqualTo(socket);
    Path block = Files.writeString(rig.directory().resolve("block"), "a block");
    List<String> inside = List.of(variable(domain));
    assertThat(run(inside, "put", "key", block.toString()).exit()).isZero();
    Run got = run(inside, "get", "key");
    assertThat(got.err() + got.exit()).endsWith("0");
    assertThat(got.out()).isEqualTo("a block");
    assertThat(run(inside, "stat", "--json").out()).contains("\"pool\"");

    // Guard: ChannelConfig.check in Bootstrap.
    Path other = rig.directory().resolve("other.sock");
    refused(inside, List.of(other.toString(), socket.toString()), "stat", "--socket", "" + other);
    refused(
        List.of(variable(domain), "ORBITKV_SOCKET=" + other),
        List.of(other.toString(), socket.toString()),
        "stat");
    assertThat(manager.terminate(Duration.ofSeconds(30))).isZero();
  }

  @Test
  void printConfigSaysWhereTheSocketComesFrom() throws Exception {
    Run run = run(List.of(variable(domain)), "manager", "--print-config", "--pool-bytes", "1MiB");
    assertThat(run.exit()).as(run.err()).isZero();
    assertThat(run.out().lines().filter(line -> line.contains(socket.toString())).toList())
        .hasSize(1)
        .allMatch(line -> line.contains(domain.toString()));
    assertThat(run.out().lines().filter(line -> line.contains(registry.toString())).toList())
        .hasSize(1);
  }

  // Guards: DomainSettings.put for the first, ChannelConfig.read and .check for the others.
  @Test
  void aDomainThatIsNotAsItMustBeStartsNothing() throws Exception {
    String other = rig.directory().resolve("other.sock").toString();
    refused(
        List.of(variable(domain)),
        List.of("--socket", other, socket.toString()),
        "manager",
        "--pool-bytes",
        "1MiB",
        "--socket",
        other);
    Path link = Files.createSymbolicLink(rig.directory().resolve("link"), domain);
    for (String[] command : new String[][] {{"manager", "--pool-bytes", "1MiB"}, {"stat"}}) {
      refused(List.of(VARIABLE + "a.channel"), List.of("a.channel", "absolute"), command);
      refused(List.of(variable(link)), List.of(link.toString(), "symlink"), command);
      refused(List.of(variable(registry)), List.of("not a regular file"), command);
    }
    Files.delete(registry);
    refused(List.of(variable(domain)), List.of(registry.toString(), "make it"), "stat");
  }
}
