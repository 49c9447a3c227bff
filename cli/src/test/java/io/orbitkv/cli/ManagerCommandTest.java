package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.cli.sample.BlindProvider;
import io.orbitkv.cli.sample.GoodProvider;
import io.orbitkv.cli.sample.UnusableProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Everything that ends before a Manager is started. */
class ManagerCommandTest {
  @TempDir private Path plugins;

  @BeforeEach
  void makePlugins() throws IOException {
    SamplePlugins.jar(plugins, "good", GoodProvider.class);
    SamplePlugins.jar(plugins, "unusable", UnusableProvider.class);
    SamplePlugins.jar(plugins, "blind", BlindProvider.class);
    Files.writeString(plugins.resolve("torn.jar"), "no zip");
  }

  @Test
  void printsEveryValueAndItsPlaceAndStartsNothing() throws IOException {
    Path file = Files.writeString(plugins.resolve("c.properties"), "sessions=7\n");

    CommandRun run =
        manager("good", "--print-config", "--good-port", "9", "--config", file.toString());

    assertThat(run.err()).isEmpty();
    assertThat(run.code()).isZero();
    assertThat(run.out().lines())
        .anyMatch(line -> line.matches("pool-bytes +1GiB +default"))
        .anyMatch(line -> line.matches("peer-transfer-backend +good +--peer-transfer-backend"))
        .anyMatch(line -> line.matches("sessions +7 +.*c.properties:1"))
        .anyMatch(line -> line.matches("max-pinned-bytes-per-peer +256MiB +default"))
        .anyMatch(line -> line.matches("membership +local +default"))
        .anyMatch(line -> line.matches("good-port +9 +--good-port"))
        .noneMatch(line -> line.contains("blind-port"));
  }

  @Test
  void printsTheSameAsJson() {
    CommandRun run = manager("good", "--print-config", "--json", "--pool-bytes", "1MiB");

    assertThat(run.code()).isZero();
    List<JsonObject> settings = new ArrayList<>();
    for (JsonElement element :
        JsonParser.parseString(run.out()).getAsJsonObject().getAsJsonArray("settings")) {
      settings.add(element.getAsJsonObject());
    }
    assertThat(settings)
        .contains(
            JsonParser.parseString(
                    "{'name':'pool-bytes','value':'1MiB','origin':'flag','place':'--pool-bytes'}")
                .getAsJsonObject(),
            JsonParser.parseString("{'name':'port','value':'0','origin':'default','place':''}")
                .getAsJsonObject());
  }

  @Test
  void helpListsTheSettingsAndTheOptionsOfEveryProvider() {
    CommandRun run = CommandRun.of("manager", "--plugin-dir", plugins.toString(), "--help");

    assertThat(run.code()).isZero();
    assertThat(run.out())
        .contains(
            "-h, --help ",
            "orbitkv manager",
            "--pool-bytes=SIZE",
            "--good-port=PORT",
            "--blind-port=PORT")
        .contains("port, 100% free (default: 0)", "(default: a quarter of");
  }

  @Test
  void anUnknownBackendIsNeverReplaced() {
    assertError(
        manager("xyz", "--print-config"),
        2,
        "orbitkv: provider xyz: no plugin has it; there are: blind, good, unusable; 'orbitkv"
            + " providers' tells why torn.jar can not be used");
    assertThat(manager("god").err()).endsWith("; did you mean good?\n");
  }

  @Test
  void aFolderOfPluginsThatDoesNotExistIsAMistakeOfTheCaller() {
    Path missing = plugins.resolve("missing");
    String line =
        "orbitkv: --plugin-dir: "
            + missing
            + " does not exist; name a folder of plugins, or a plugin";

    assertError(
        CommandRun.of("manager", "--plugin-dir", missing.toString(), "--print-config"), 2, line);
    assertError(CommandRun.of("providers", "--plugin-dir", missing.toString()), 2, line);
  }

  @Test
  void aBrokenPluginThatIsAskedForTellsItsReasonEvenWithFlagsOfIt() {
    CommandRun run = manager("torn", "--torn-port", "9");

    assertThat(run.code()).isEqualTo(1);
    assertThat(run.err())
        .startsWith("orbitkv: provider torn: plugin torn.jar (" + plugins.resolve("torn.jar"))
        .contains("torn.jar is not a jar", "there are: blind, good, unusable");
  }

  @Test
  void aBackendThatDoesNotWorkHereTellsWhyAndTheFix() {
    assertError(
        manager("unusable"), 1, "orbitkv: provider unusable: no device was found; plug one in");
  }

  @Test
  void aBackendWhoseEvidenceDoesNotSufficeIsRefused() {
    assertError(
        manager("blind"),
        1,
        "orbitkv: provider blind: its evidence for the requester's memory is [PEER_RECEIPT], and a"
            + " Manager needs one of [LOCAL_COMPLETION, LOCAL_QUIESCED] to use memory again; choose"
            + " another with --peer-transfer-backend");
  }

  @Test
  void wrongUseEndsWithTwoAndOneLine() {
    CommandRun typo = manager("good", "--pool-byte", "1GiB");
    assertThat(typo.code()).isEqualTo(2);
    assertThat(typo.err())
        .hasLineCount(1)
        .startsWith("orbitkv: Unknown options: '--pool-byte', '1GiB'; did you mean ")
        .contains("--pool-bytes")
        .endsWith("see 'orbitkv manager --help'\n");
    assertError(
        manager("good", "--port", "65536"),
        2,
        "orbitkv: --port: '65536' has no port from 0 to 65535; write one");
    assertError(
        manager("good", "--blind-port", "1"),
        2,
        "orbitkv: --blind-port: it is an option of the provider blind, but the backend is good;"
            + " remove it, or set --peer-transfer-backend blind");
    assertThat(manager("good", "--port").code()).isEqualTo(2);
    assertThat(manager("good", "--port", "1", "--port", "2").err()).contains("only once");
    assertThat(CommandRun.of().code()).isEqualTo(2);
    assertThat(CommandRun.of("nonsense").code()).isEqualTo(2);
  }

  private CommandRun manager(String backend, String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "manager", "--plugin-dir", plugins.toString(), "--peer-transfer-backend", backend));
    arguments.addAll(List.of(more));
    return CommandRun.of(arguments.toArray(String[]::new));
  }

  private static void assertError(CommandRun run, int code, String line) {
    assertThat(run.err().strip()).isEqualTo(line);
    assertThat(run.code()).isEqualTo(code);
    assertThat(run.out()).isEmpty();
  }
}
