package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.systemtests.InstalledCommand.Ended;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kit, run by the installed command against the plugin that came with it. */
class TckCommandTest {
  @TempDir private Path directory = Path.of("");

  @Test
  void packagedOrbitteTcpPassesEveryTestAndDeclinesNone() throws Exception {
    Path report = directory.resolve("tck-report.json");
    Ended ended =
        new InstalledCommand(directory).run("tck", "orbitte-tcp", "--report", report.toString());

    assertThat(ended.code()).as("%s%s", ended.out(), ended.err()).isZero();
    JsonObject found = JsonParser.parseString(Files.readString(report)).getAsJsonObject();
    assertThat(found.get("provider").getAsString()).isEqualTo("orbitte-tcp");
    assertThat(found.get("failed").getAsInt()).isZero();
    assertThat(found.get("passed").getAsInt()).isGreaterThan(80);
    assertThat(found.getAsJsonArray("skipped")).isEmpty();
    assertThat(found.getAsJsonArray("tests")).hasSize(found.get("passed").getAsInt());
  }
}
