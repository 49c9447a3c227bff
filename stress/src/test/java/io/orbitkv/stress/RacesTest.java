package io.orbitkv.stress;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Runs jcstress once, in a process of its own, over all races of this module: by default for
 * seconds, in one mode of the JVM; with {@code -Pfull} in all of them. The reports are in
 * target/jcstress.
 */
class RacesTest {
  private static final Path RESULTS =
      Path.of(System.getProperty("orbitkv.stress.results", "target/jcstress")).toAbsolutePath();
  private static final boolean FULL = System.getProperty("orbitkv.stress", "smoke").equals("full");
  private static final long DEADLINE_S = FULL ? 3 * 3_600 : 900;

  /** Every race has two actors. Each state holds sockets or memory: 256 of them at once. */
  private static final List<String> ALWAYS =
      List.of(
          "-c",
          "2",
          "-strideSize",
          "64",
          "-strideCount",
          "4",
          "-jvmArgsPrepend",
          "--enable-native-access=ALL-UNNAMED");

  private static final List<String> SMOKE =
      List.of(
          "-f",
          "1",
          "-fsm",
          "1",
          "-iters",
          "1",
          "-time",
          "500",
          "-sc",
          "false",
          "-jvmArgs",
          "--enable-native-access=ALL-UNNAMED -Xmx256m");

  private static final List<String> ALL_MODES = List.of("-m", "quick");

  private static final Pattern FAILURE =
      Pattern.compile("^(io\\.orbitkv\\.\\S+) \\[", Pattern.MULTILINE);

  private static String output = "";
  private static List<String> failed = List.of();

  @BeforeAll
  static void race() throws Exception {
    Files.createDirectories(RESULTS);
    Path log = RESULTS.resolve("output.txt");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                "org.openjdk.jcstress.Main",
                "-v",
                "-r",
                RESULTS.toString()));
    command.addAll(ALWAYS);
    command.addAll(FULL ? ALL_MODES : SMOKE);
    Process process =
        new ProcessBuilder(command)
            .directory(RESULTS.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      boolean ended = process.waitFor(DEADLINE_S, TimeUnit.SECONDS);
      output = read(log);
      assertThat(ended).as("jcstress ended: %s", output).isTrue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    int failures = output.indexOf("TEST FAILURES:");
    String listed = failures < 0 ? "" : output.substring(failures);
    failed = FAILURE.matcher(listed).results().map(found -> found.group(1)).distinct().toList();
  }

  // Guards: Gate.enter as one step, Pool.hold refusing FREED, Catalog.hold as one step,
  // TcpRegistration.close with users, TcpTransport.admit against quiesce, GrantAuthority.retire
  // once, DrainCoordinator keeping an early receipt, GatedTicket.enter asking its gate.
  @Test
  void nothingForbiddenIsSeenOnTheRealClasses() {
    assertThat(failed).as(output).isSubsetOf(TwoStepGate.class.getName());
    for (String race :
        List.of(
            "manager.memory.PinAgainstReuse",
            "manager.memory.LastHolds",
            "manager.catalog.HoldAgainstEviction",
            "manager.transfer.AcceptAgainstWatch",
            "manager.grant.CompleteAgainstLoss",
            "provider.tcp.EnterAgainstRetire",
            "provider.tcp.ReceiveAgainstCancel",
            "provider.tcp.ReplyAgainstRevoke",
            "provider.tcp.AdmitAgainstUnregister",
            "provider.tcp.AdmitAgainstCloseSource",
            "provider.tcp.SubmitAgainstClose",
            "stress.RunAgainstCancel")) {
      assertThat(output).as(race).contains("[OK] io.orbitkv." + race + "\n");
    }
  }

  // Guard: a forbidden result makes the run fail. The race is the real gate's, the gate is wrong.
  @Test
  void aGateOfTwoStepsIsCaught() {
    assertThat(failed).as(output).contains(TwoStepGate.class.getName());
  }

  private static String read(Path log) throws IOException {
    return Files.readString(log);
  }
}
