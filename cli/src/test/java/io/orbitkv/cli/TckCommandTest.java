package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.cli.sample.GoodProvider;
import io.orbitkv.cli.sample.SloppyProvider;
import io.orbitkv.tck.template.TemplateProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command that runs the kit against a plugin. */
class TckCommandTest {
  /** The other classes of the template. */
  private static final List<String> PARTS = List.of("TemplatePeer", "TemplateTransport");

  @TempDir private Path folder;

  @Test
  void providerWithAMistakeFailsAndTheReportSaysWhere() throws IOException {
    Path plugin = SamplePlugins.jar(folder, "sloppy", SloppyProvider.class);
    Path report = folder.resolve("report.json");
    CommandRun run =
        CommandRun.of(
            "tck",
            plugin.toString(),
            "--report",
            report.toString(),
            "--suite",
            "lifecycle",
            "--suite",
            "plugin-packaging");
    assertThat(run.code()).as("%s", run.err()).isEqualTo(1);
    assertThat(run.err().lines()).last().asString().contains("provider sloppy", "failed; see");
    assertThat(run.out()).contains("Lifecycle", "Failed:");
    JsonObject object = JsonParser.parseString(Files.readString(report)).getAsJsonObject();
    assertThat(object.get("provider").getAsString()).isEqualTo("sloppy");
    assertThat(object.get("spi_version").getAsString()).isEqualTo("1.0");
    assertThat(object.get("failed").getAsInt()).isPositive();
    assertThat(object.getAsJsonArray("skipped")).isNotNull();
    assertThat(object.getAsJsonArray("tests"))
        .hasSizeGreaterThan(10)
        .anySatisfy(row -> assertThat(result(row, "loadsAndFindsTheProvider")).isEqualTo("passed"))
        .anySatisfy(
            row -> assertThat(result(row, "secondCloseOfAServiceDoesNothing")).isEqualTo("failed"));
  }

  @Test
  void packagedTemplatePassesAndSaysWhatItDeclines() throws IOException {
    Path plugin = SamplePlugins.jar(folder, "template", TemplateProvider.class, PARTS);
    Path report = folder.resolve("report.json");
    CommandRun run =
        CommandRun.of("tck", plugin.toString(), "--json", "--report", report.toString());
    assertThat(run.code()).as("%s%s", run.out(), run.err()).isZero();
    assertThat(run.out()).isEqualTo(Files.readString(report));
    JsonObject object = JsonParser.parseString(run.out()).getAsJsonObject();
    assertThat(object.get("failed").getAsInt()).isZero();
    assertThat(object.get("passed").getAsInt()).isGreaterThan(60);
    assertThat(object.getAsJsonArray("skipped"))
        .isNotEmpty()
        .allSatisfy(
            row ->
                assertThat(row.getAsJsonObject().get("reason").getAsString())
                    .contains(" declined: "));
  }

  private static String result(JsonElement row, String test) {
    JsonObject object = row.getAsJsonObject();
    assertThat(object.get("test").getAsString()).isEqualTo(test);
    return object.get("result").getAsString();
  }

  @Test
  void whatIsNoPluginIsNamedInOneLine() throws IOException {
    CommandRun missing = CommandRun.of("tck", folder.resolve("nowhere").toString());
    assertThat(missing.code()).isEqualTo(2);
    assertThat(missing.err().strip().lines()).singleElement().asString().contains("nowhere");
    CommandRun other =
        CommandRun.of(
            "tck",
            SamplePlugins.jar(folder, "good", GoodProvider.class).toString(),
            "--provider",
            "god");
    assertThat(other.code()).isEqualTo(2);
    assertThat(other.err()).startsWith("orbitkv: provider god: ").contains("did you mean good?");
    CommandRun suite =
        CommandRun.of(
            "tck",
            SamplePlugins.jar(folder, "good", GoodProvider.class).toString(),
            "--suite",
            "nothing");
    assertThat(suite.code()).isEqualTo(2);
    assertThat(suite.err()).contains("--suite nothing", "DRAIN");
  }
}
