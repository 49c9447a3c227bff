package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.systemtests.InstalledCommand.Ended;
import io.orbitkv.systemtests.InstalledCommand.Started;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands put, get, stat and replay against real Managers. */
class ReplayFailureTest {
  @TempDir private Path directory = Path.of("");
  private InstalledCommand command = new InstalledCommand(directory);
  private final List<Started> managers = new ArrayList<>();

  @BeforeEach
  void startTwo() throws Exception {
    command = new InstalledCommand(directory);
    managers.add(command.manager("a"));
    managers.add(command.manager("b"));
    for (String name : List.of("a", "b")) {
      while (!status(name).getAsJsonArray("peers").iterator().hasNext()) {
        assertThat(managers).allMatch(manager -> manager.process().isAlive());
      }
    }
  }

  @AfterEach
  void endAll() throws Exception {
    for (Started manager : managers) {
      manager.process().destroyForcibly().waitFor();
    }
  }

  private JsonObject status(String name) throws Exception {
    Ended ended = command.run("stat", "--json", "--socket", command.socket(name));
    assertThat(ended.code()).as(ended.err()).isZero();
    return JsonParser.parseString(ended.out()).getAsJsonObject();
  }

  private String sockets() {
    return command.socket("a") + "," + command.socket("b");
  }

  // A growing conversation: every request has the blocks of the one before it, and two more.
  private Path trace(int requests) throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 1; i <= requests; i++) {
      lines.add(
          LongStream.range(0, 2L * i)
              .mapToObj(Long::toString)
              .collect(
                  Collectors.joining(
                      ",",
                      "{\"timestamp\":"
                          + 50 * i
                          + ",\"input_length\":1,\"output_length\":1,\"hash_ids\":[",
                      "]}")));
    }
    return Files.write(directory.resolve("trace.jsonl"), lines);
  }

  @Test
  void putOnOneHostIsGotFromTheOther() throws Exception {
    long seed = System.nanoTime();
    System.out.println("ReplayTest seed " + seed);
    byte[] bytes = new byte[3_000_001];
    new SplittableRandom(seed).nextBytes(bytes);
    Path file = Files.write(directory.resolve("in"), bytes);
    Path copy = directory.resolve("out");

    Ended put = command.run("put", "key", file.toString(), "--socket", command.socket("a"));
    Ended again =
        command.run("put", "key", file.toString(), "--json", "--socket", command.socket("a"));
    Ended get =
        command.run("get", "key", copy.toString(), "--json", "--socket", command.socket("b"));
    Ended miss = command.run("get", "other", "--socket", command.socket("b"));

    assertThat(put.code()).as(put.err()).isZero();
    assertThat(again.out()).contains("\"status\":\"present\"");
    assertThat(get.code()).as(get.err()).isZero();
    assertThat(get.out()).contains("\"origin\":\"peer\"");
    assertThat(Files.mismatch(file, copy)).isEqualTo(-1);
    assertThat(miss.code()).isEqualTo(1);
    assertThat(miss.err())
        .hasLineCount(1)
        .startsWith("orbitkv: other: no Manager in reach gave it");
  }

  @Test
  void wrongBytesUnderARightNameAreFound() throws Exception {
    String trace = trace(6).toString();
    List<String> common = List.of("replay", trace, "--managers", sockets(), "--namespace", "same");

    assertThat(command.run(with(common, "--seed", "1")).code()).isZero();
    Ended ended = command.run(with(common, "--seed", "2", "--json"));

    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.err()).contains("bytes differ from what was published");
    assertThat(JsonParser.parseString(ended.out()).getAsJsonObject().get("mismatched_bytes"))
        .satisfies(mismatched -> assertThat(mismatched.getAsLong()).isPositive());
  }

  // Guard: the owner's receipts are counted by a Manager that was not named.
  @Test
  void receiptsOfAnOwnerThatIsNotAskedAreNotMissed() throws Exception {
    String trace = trace(12).toString();

    assertThat(command.run("replay", trace, "--managers", command.socket("a")).code()).isZero();
    Ended ended = command.run("replay", trace, "--managers", command.socket("b"), "--json");

    assertThat(ended.code()).as(ended.err()).isZero();
    JsonObject report = JsonParser.parseString(ended.out()).getAsJsonObject();
    assertThat(report.get("peer_blocks").getAsLong()).isPositive();
    assertThat(report.get("missing_receipts").getAsLong()).isZero();
    assertThat(report.get("source_receipts_visible").getAsBoolean()).isFalse();
  }

  // Guard: a device that get would replace by a file, and output that is lost without a word.
  @Test
  void aFullDeviceIsSaidAndStaysADevice() throws Exception {
    Path file = Files.writeString(directory.resolve("in"), "bytes");
    String a = command.socket("a");
    assertThat(command.run("put", "k", file.toString(), "--socket", a).code()).isZero();

    Ended ended = command.run("get", "k", "/dev/full", "--socket", a);
    Ended through = command.run("get", "k", "/dev/stdout", "--socket", a);

    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.err()).hasLineCount(1).startsWith("orbitkv: /dev/full: cannot be written");
    assertThat(Files.isRegularFile(Path.of("/dev/full"))).isFalse();
    assertThat(through.out()).isEqualTo("bytes");
  }

  // Guard: a replay of which nothing went well ended with 0.
  @Test
  void operationsThatFailAreAFailureOfTheReplay() throws Exception {
    String trace = trace(1).toString();
    Ended large = command.run("replay", trace, "--managers", sockets(), "--block-bytes", "257MiB");

    assertThat(large.code()).isEqualTo(1);
    assertThat(large.err()).contains("--block-bytes: has 257 MiB, more than the pool of 256 MiB");
    assertThat(large.out()).isEmpty();
  }

  private static String[] with(List<String> common, String... more) {
    List<String> all = new ArrayList<>(common);
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  @Test
  void aManagerThatIsKilledCostsMissesAndOneThatComesBackIsUsedAgain() throws Exception {
    // Half a minute: on a busy machine a Manager takes ten seconds to start.
    int requests = 700;
    Started replay =
        command.start(
            "replay",
            trace(requests).toString(),
            "--managers",
            sockets(),
            "--speed",
            "1",
            "--block-bytes",
            "1KiB",
            "--json");
    replay.awaitOutput("replay: 175 of 700");
    managers.get(1).process().destroyForcibly().waitFor();
    managers.add(command.manager("b"));

    Ended ended = replay.awaitEnd();

    assertThat(ended.code()).as(ended.err()).isZero();
    JsonObject report = JsonParser.parseString(ended.out()).getAsJsonObject();
    assertThat(report.get("requests").getAsLong()).isEqualTo(requests);
    assertThat(report.get("mismatched_bytes").getAsLong()).isZero();
    long lost =
        report.get("rerouted_requests").getAsLong() + report.get("failed_operations").getAsLong();
    assertThat(lost).isBetween(1L, requests / 2L - 1);
    JsonObject catalog = status("b").getAsJsonObject("catalog");
    assertThat(catalog.get("blocks").getAsLong()).as("the new one was used").isPositive();
  }

  @Test
  void withoutAnyManagerLeftItStopsAndSaysSo() throws Exception {
    Started replay =
        command.start(
            "replay", trace(400).toString(), "--managers", sockets(), "--speed", "1", "--json");
    replay.awaitOutput("replay: 100 of 400");
    for (Started manager : managers) {
      manager.process().destroyForcibly().waitFor();
    }

    Ended ended = replay.awaitEnd();

    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.err()).contains("no Manager is left to replay against");
    assertThat(JsonParser.parseString(ended.out()).getAsJsonObject().get("mismatched_bytes"))
        .satisfies(mismatched -> assertThat(mismatched.getAsLong()).isZero());
  }
}
