package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import io.orbitkv.systemtests.rig.Command;
import io.orbitkv.systemtests.rig.Rig;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The first thing that anybody runs. */
class QuickstartTest {
  @RegisterExtension final Rig rig = new Rig();

  // Guard: the exit code's verdict, and the end of both children.
  @Test
  void movesAndChecksBytesAndLeavesNothingBehind() {
    List<String> before = managers();
    Command quickstart = rig.run("quickstart", "--json", "--requests", "16").succeeded();
    JsonObject report = quickstart.json();
    assertThat(report.get("requests").getAsLong()).isEqualTo(16);
    assertThat(report.get("verified_bytes").getAsLong()).isPositive();
    assertThat(report.get("mismatched_bytes").getAsLong()).isZero();
    assertThat(report.get("peer_blocks").getAsLong()).isPositive();
    assertThat(report.get("hit_ratio").getAsDouble())
        .isEqualTo(report.get("ideal_hit_ratio").getAsDouble());
    assertThat(report.get("quarantined_bytes").getAsLong()).isZero();
    assertThat(report.get("missing_receipts").getAsLong()).isZero();
    assertThat(report.getAsJsonObject("receipts").keySet())
        .contains("LOCAL_QUIESCED")
        .doesNotContain("NONE");
    assertThat(managers()).containsExactlyInAnyOrderElementsOf(before);
  }

  /** Command lines of the Managers of this distribution that run now. */
  private static List<String> managers() {
    return ProcessHandle.allProcesses()
        .map(process -> process.pid() + " " + process.info().commandLine().orElse(""))
        .filter(line -> line.contains("io.orbitkv.cli.Main") && line.contains("orbitkv-quickstart"))
        .toList();
  }
}
