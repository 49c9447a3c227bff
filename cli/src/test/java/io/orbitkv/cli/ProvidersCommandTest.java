package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.cli.sample.GoodProvider;
import io.orbitkv.cli.sample.UnusableProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProvidersCommandTest {
  @TempDir private Path plugins;

  @Test
  void listsWhatThereIsAndWhatIsBrokenWithin100Columns() throws IOException {
    SamplePlugins.jar(plugins, "good", GoodProvider.class);
    SamplePlugins.jar(plugins, "unusable", UnusableProvider.class);
    Files.writeString(plugins.resolve("torn.jar"), "no zip");

    CommandRun run = CommandRun.of("providers", "--plugin-dir", plugins.toString());

    assertThat(run.code()).isZero();
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .contains("good 0.9, transport", "yes: sockets of this machine, 100% of them")
        .contains("as wide as the network\n                allows\n")
        .contains("no: no device was found; plug one in")
        .contains("evidence: LOCAL_QUIESCED", "evidence: ACCESS_REVOKED, PEER_RECEIPT")
        .contains("67108864 bytes in 16384 pieces at most; can be cancelled; splits strided pieces")
        .contains("--good-port PORT: port, 100% free (default: 0)")
        .contains("Plugins that can not be used:", "torn.jar is not a jar", "copy it again");
    assertThat(run.out().lines()).allMatch(line -> line.length() <= 100);
  }

  @Test
  void theSameForMachines() throws IOException {
    SamplePlugins.jar(plugins, "good", GoodProvider.class);
    Files.writeString(plugins.resolve("torn.jar"), "no zip");

    CommandRun run = CommandRun.of("providers", "--json", "--plugin-dir", plugins.toString());

    assertThat(run.code()).isZero();
    JsonObject all = JsonParser.parseString(run.out()).getAsJsonObject();
    JsonObject good = all.getAsJsonArray("providers").get(0).getAsJsonObject();
    assertThat(good.get("name").getAsString()).isEqualTo("good");
    assertThat(good.get("usable").getAsBoolean()).isTrue();
    assertThat(good.get("spi_version").getAsString()).isEqualTo("1.0");
    assertThat(good.getAsJsonObject("capabilities").getAsJsonObject("evidence").toString())
        .isEqualTo(
            "{\"destination\":[\"LOCAL_QUIESCED\"],\"source\":[\"ACCESS_REVOKED\",\"PEER_RECEIPT\"]}");
    JsonObject torn = all.getAsJsonArray("broken_plugins").get(0).getAsJsonObject();
    assertThat(torn.get("path").getAsString()).isEqualTo(plugins.resolve("torn.jar").toString());
    assertThat(torn.get("fix").getAsString()).isEqualTo("copy it again");
  }

  @Test
  void endsWithOneIfNoneCanBeUsed() throws IOException {
    SamplePlugins.jar(plugins, "unusable", UnusableProvider.class);

    CommandRun run = CommandRun.of("providers", "--plugin-dir", plugins.toString());

    assertThat(run.code()).isEqualTo(1);
    assertThat(run.out()).contains("no device was found");
    assertThat(run.err()).startsWith("orbitkv: providers: none can be used here;").hasLineCount(1);
  }

  @Test
  void anEmptyFolderIsTold() {
    CommandRun run = CommandRun.of("providers", "--plugin-dir", plugins.toString());

    assertThat(run.code()).isEqualTo(1);
    assertThat(run.out()).contains("the folder has no plugin in it");
  }
}
