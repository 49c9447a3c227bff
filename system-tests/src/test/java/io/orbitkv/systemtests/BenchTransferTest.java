package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.systemtests.InstalledCommand.Ended;
import io.orbitkv.systemtests.InstalledCommand.Started;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The installed command measures, for a moment; the figures mean nothing here. */
class BenchTransferTest {
  @TempDir private Path directory = Path.of("");

  /** Guard: the command ends with 1 if a byte is wrong, see {@code MeasuringTest} of bench. */
  @Test
  void oneShapeBesideItsBaselineAsJson() throws Exception {
    Ended ended =
        new InstalledCommand(directory)
            .run(
                ("bench transfer --block-bytes 65536 --batch 4 --seconds 0.2 --warm-up 0.1"
                        + " --pool-bytes 16MiB --json")
                    .split(" ", -1));

    assertThat(ended.code()).as("%s%s", ended.out(), ended.err()).isZero();
    JsonObject found = JsonParser.parseString(ended.out()).getAsJsonObject();
    assertThat(found.get("provider").getAsString()).isEqualTo("orbitte-tcp");
    assertThat(found.get("machine").getAsString()).contains("kernel ", "JDK ", "MTU ");
    assertThat(found.get("batch").getAsInt()).isEqualTo(4);
    assertThat(found.get("errors").getAsLong()).isZero();
    for (String figure :
        new String[] {
          "gbps",
          "p50_us",
          "p99_us",
          "p999_us",
          "cpu_s_per_gb",
          "prepare_avg_us",
          "post_avg_us",
          "transfer_avg_us",
          "receipt_avg_us"
        }) {
      assertThat(found.get(figure).getAsDouble()).as(figure).isPositive();
    }
    assertThat(found.getAsJsonArray("baselines")).isNotEmpty();
    assertThat(found.getAsJsonObject("ratio").get("gbps").getAsDouble()).isPositive();
  }

  @Test
  void twoHostsAreTwoCommands() throws Exception {
    InstalledCommand command = new InstalledCommand(directory);
    Started owner = command.start("bench", "transfer", "--listen", "127.0.0.1:0");
    try {
      owner.awaitOutput("listening ");
      String address = Files.readString(owner.out()).strip().split(" ", 2)[1];
      // Twice: the owner goes on after a requester has left.
      for (int i = 0; i < 2; i++) {
        Ended ended =
            command.run(
                ("bench transfer --connect "
                        + address
                        + " --block-bytes 4096,65536 --batch 1,100 --seconds 0.05 --warm-up 0.05"
                        + " --pool-bytes 16MiB --baseline none")
                    .split(" ", -1));

        assertThat(ended.code()).as("%s%s", ended.out(), ended.err()).isZero();
        assertThat(ended.out().lines().filter(line -> line.contains("KiB"))).hasSize(4);
      }
    } finally {
      owner.process().destroy();
      owner.awaitEnd();
    }
  }

  @Test
  void everyNamedCaseRuns() throws Exception {
    Ended ended =
        new InstalledCommand(directory)
            .run(
                ("bench transfer --case mixed,fan-in,whole-path --rounds 1 --seconds 0.1"
                        + " --warm-up 0.1 --pool-bytes 256MiB --baseline none --json")
                    .split(" ", -1));

    assertThat(ended.code()).as("%s%s", ended.out(), ended.err()).isZero();
    JsonObject found = JsonParser.parseString(ended.out()).getAsJsonObject();
    assertThat(found.getAsJsonArray("cases"))
        .extracting(section -> section.getAsJsonObject().get("case").getAsString())
        .containsExactly("mixed", "fan-in", "whole-path");
    JsonObject row =
        found
            .getAsJsonArray("cases")
            .get(2)
            .getAsJsonObject()
            .getAsJsonArray("rows")
            .get(0)
            .getAsJsonObject();
    JsonObject fetch = row.getAsJsonObject("grant_read_receipt");
    assertThat(fetch.get("p50_us").getAsDouble()).isPositive();
    assertThat(fetch.get("prepare_p50_us").getAsDouble()).isPositive();
  }
}
