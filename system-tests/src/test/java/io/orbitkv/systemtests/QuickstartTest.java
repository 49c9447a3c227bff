package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.systemtests.InstalledCommand.Ended;
import io.orbitkv.systemtests.InstalledCommand.Started;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QuickstartTest {
  @TempDir private Path directory = Path.of("");
  private InstalledCommand command = new InstalledCommand(directory);

  @BeforeEach
  void useTheDirectory() {
    command = new InstalledCommand(directory);
  }

  private List<Path> leftovers() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.getFileName().toString().startsWith("orbitkv-")).toList();
    }
  }

  @Test
  void movesRealBlocksBetweenTwoManagersAndProvesEveryByteAndReceipt() throws Exception {
    Ended ended =
        command.run("quickstart", "--json", "--model", "qwen2.5-0.5b", "--requests", "48");

    assertThat(ended.code()).as(ended.err()).isZero();
    JsonObject report = JsonParser.parseString(ended.out()).getAsJsonObject();
    assertThat(report.get("requests").getAsLong()).isEqualTo(48);
    assertThat(report.get("blocks").getAsLong()).isEqualTo(1123);
    assertThat(report.get("block_bytes").getAsLong()).isEqualTo(196_608);
    assertThat(report.get("peer_blocks").getAsLong()).isPositive();
    assertThat(report.get("verified_bytes").getAsLong())
        .isEqualTo(report.get("hits").getAsLong() * 196_608);
    assertThat(report.get("mismatched_bytes").getAsLong()).isZero();
    assertThat(report.get("missing_receipts").getAsLong()).isZero();
    assertThat(report.get("quarantined_bytes").getAsLong()).isZero();
    assertThat(report.getAsJsonObject("receipts").asMap()).isNotEmpty();
    assertThat(leftovers()).isEmpty();
  }

  @Test
  void oneRequestIsEnoughToEndWell() throws Exception {
    Ended ended = command.run("quickstart", "--model", "qwen2.5-0.5b", "--requests", "1");

    assertThat(ended.code()).as(ended.err()).isZero();
    assertThat(ended.err()).contains("more --requests show that");
    assertThat(leftovers()).isEmpty();
  }

  @Test
  void endedFromOutsideItLeavesNoProcessAndNoFile() throws Exception {
    Started quickstart =
        command.start("quickstart", "--model", "qwen2.5-0.5b", "--requests", "240");
    quickstart.awaitOutput("replay: ");
    List<ProcessHandle> managers = quickstart.process().descendants().toList();
    assertThat(managers).hasSize(2);

    quickstart.process().destroy();
    Ended ended = quickstart.awaitEnd();

    assertThat(ended.code()).isEqualTo(143);
    assertThat(managers).noneMatch(ProcessHandle::isAlive);
    assertThat(leftovers()).isEmpty();
  }

  @Test
  void aManagerThatCanNotStartIsSaidInOneLineWithItsLog() throws Exception {
    Ended ended = command.run("quickstart", "--requests", "2", "--pool-bytes", "900000GB");

    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.out()).isEmpty();
    assertThat(ended.err().lines().toList().getLast())
        .startsWith("orbitkv: Manager ")
        .contains("(logs: " + leftovers().getFirst());
  }
}
