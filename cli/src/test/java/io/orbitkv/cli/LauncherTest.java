package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script that starts Java, with the classes of this build behind it. */
class LauncherTest {
  private record Ended(int code, String text) {}

  @TempDir private Path home = Path.of("");

  @BeforeEach
  void install() throws IOException {
    Path dist = Path.of("src/main/dist");
    Files.createDirectories(home.resolve("bin"));
    Files.createDirectories(home.resolve("lib"));
    Files.copy(dist.resolve("bin/orbitkv"), home.resolve("bin/orbitkv"));
    Files.copy(dist.resolve("lib/find-java.sh"), home.resolve("lib/find-java.sh"));
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest
        .getMainAttributes()
        .put(
            Attributes.Name.CLASS_PATH,
            Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(entry -> Path.of(entry).toUri().toString())
                .collect(Collectors.joining(" ")));
    try (var out = Files.newOutputStream(home.resolve("lib/all.jar"))) {
      new JarOutputStream(out, manifest).close();
    }
  }

  /** Runs a line of shell in which $O is the command; the answer has stdout and stderr together. */
  private Ended shell(String line) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder("sh", "-c", "O=\"sh bin/orbitkv\"; " + line).directory(home.toFile());
    builder.environment().keySet().removeIf(key -> key.matches("ORBITKV_.*|LC_.*|LANG"));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.redirectErrorStream(true).start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(process.waitFor(), text);
  }

  // Guard: without a locale of UTF-8 behind it Java makes every other letter the same one.
  @ParameterizedTest
  @ValueSource(strings = {"", "LC_ALL=C", "LC_ALL=C.UTF-8", "LC_ALL=xx_XX.UTF-8", "LANG=POSIX"})
  void lettersBeyondAsciiArriveWhateverTheLocale(String locale) throws Exception {
    Ended ended = shell(locale + " $O put k \"$(printf '/no/such-\\303\\274')\"");

    assertThat(ended.text()).startsWith("orbitkv: /no/such-\u00fc: no such file").hasLineCount(1);
    assertThat(ended.code()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"get \"$K\"", "get k --namespace \"$K\"", "put \"$K\" /dev/null"})
  void aNameThatIsNoUtf8IsRefused(String command) throws Exception {
    Ended ended = shell("K=$(printf 'k\\374'); $O " + command + " --socket /none");

    assertThat(ended.text()).contains("is not UTF-8").hasLineCount(1);
    assertThat(ended.code()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--version", "--help", "quickstart --help", "manager --help"})
  void outputThatIsLostIsAFailure(String command) throws Exception {
    assertThat(shell("$O " + command + " >/dev/full"))
        .isEqualTo(new Ended(1, "orbitkv: " + StandardOutput.LOST + "\n"));
    assertThat(shell("$O " + command + " >&-").text())
        .startsWith("orbitkv: standard output is closed")
        .hasLineCount(1);
    assertThat(shell("$O " + command + " >&-").code()).isEqualTo(1);
  }

  // Guard: without the script before it too there is no stack trace.
  @Test
  void outputThatIsClosedIsAFailureOfTheProgramToo() throws Exception {
    Ended ended =
        shell("$JAVA_HOME/bin/java -cp lib/all.jar " + Main.class.getName() + " --version >&-");

    assertThat(ended).isEqualTo(new Ended(1, "orbitkv: " + StandardOutput.LOST + "\n"));
  }

  @Test
  void aReaderThatHasEnoughIsToldNothing() throws Exception {
    Ended ended = shell("{ $O --help; echo $? >code; } | true; cat code");

    assertThat(ended).isEqualTo(new Ended(0, "1\n"));
  }

  @Test
  void verifyIsForASourceTree() throws Exception {
    Ended ended = shell("$O verify");

    assertThat(ended.text()).contains("source tree").hasLineCount(1);
    assertThat(ended.code()).isEqualTo(2);
  }
}
