package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.systemtests.InstalledCommand.Ended;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The installed command measures round trips, for a moment; the figures mean nothing here. */
class BenchChannelTest {
  @TempDir private Path directory = Path.of("");

  private Ended bench(String arguments) throws Exception {
    return new InstalledCommand(directory)
        .run(
            ("bench channel --seconds 0.1 --rounds 1 --idle-seconds 0.1 " + arguments)
                .split(" ", -1));
  }

  @Test
  void rowsAreOneJsonList() throws Exception {
    Ended ended = bench("--clients java,unix-socket --placements one-core --json");

    assertThat(ended.code()).as("%s%s", ended.out(), ended.err()).isZero();
    JsonArray rows = JsonParser.parseString(ended.out()).getAsJsonArray();
    assertThat(rows)
        .extracting(row -> text(row, "client") + " " + text(row, "pace_us"))
        .containsExactly("java 0", "java 1000", "unix-socket 0", "unix-socket 1000");
    for (JsonElement row : rows) {
      JsonObject figures = row.getAsJsonObject();
      assertThat(figures.keySet())
          .containsExactlyInAnyOrder(
              "client", "placement", "pace_us", "p50_us", "p99_us", "p999_us", "idle_cpu_percent");
      assertThat(text(row, "placement")).isEqualTo("one-core");
      assertThat(figures.get("p50_us").getAsDouble()).isPositive();
      assertThat(figures.get("p999_us").getAsDouble())
          .isGreaterThanOrEqualTo(figures.get("p99_us").getAsDouble());
    }
  }

  private static String text(JsonElement row, String name) {
    return row.getAsJsonObject().get(name).getAsString();
  }

  @Test
  void tableNamesTheMachineAndTheRatio() throws Exception {
    Ended ended = bench("--clients java,unix-socket --placements one-core");

    assertThat(ended.code()).as("%s%s", ended.out(), ended.err()).isZero();
    assertThat(ended.out()).startsWith("kernel ").contains("JDK ", "p50 /C", "idle for 0.1 s");
    assertThat(ended.out().lines().filter(line -> line.startsWith("java "))).hasSize(2);
  }

  @Test
  void unknownClientIsRefusedBeforeAnythingStarts() throws Exception {
    Ended ended = bench("--clients java,telepathy");

    assertThat(ended.code()).isEqualTo(2);
    assertThat(ended.err()).contains("--clients telepathy: there is none; choose from [java,");
  }
}
