package io.orbitkv.bench.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.orbitkv.bench.CProgram;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes of both ends are started, pinned and asked, for a moment; the figures mean nothing. */
class ChannelBenchTest {
  @TempDir private Path directory = Path.of("");

  private ChannelFindings measure(ChannelClient... clients) throws InterruptedException {
    ChannelPlan plan =
        new ChannelPlan(List.of(clients), List.of(Placement.values()), 2, 0.05, 0.05);
    ChannelSetUp setUp =
        new ChannelSetUp(
            ChannelBenchTest::end,
            directory.resolve("nobody.sock"),
            ProcessHandle.current().pid(),
            List.of(),
            directory);
    try (ChannelBench bench = ChannelBench.open(plan, setUp, () -> {})) {
      return bench.measure();
    }
  }

  private static List<String> end(List<String> kindAndAddress) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), EndMain.class.getName()));
    command.addAll(kindAndAddress);
    return command;
  }

  /** Guard: each answer is compared with what was sent; a wrong one ends the client. */
  @Test
  void everyBaselineOfThisJarIsMeasuredInEachPlacement() throws Exception {
    assumeTrue(CProgram.compiler().isPresent(), "there is no C compiler here");
    ChannelFindings found =
        measure(
            ChannelClient.C_EVENTFD,
            ChannelClient.UNIX_SOCKET,
            ChannelClient.GRPC_UNARY,
            ChannelClient.GRPC_STREAM);

    int placements = Cores.find().allow(Placement.TWO_CORES) ? 2 : 1;
    assertThat(found.leftOut().keySet())
        .as("%s", found.leftOut())
        .allMatch(name -> placements == 1 && name.endsWith("two-cores"));
    assertThat(found.rows()).hasSize(4 * placements * ChannelPlan.PACES_MICROS.size());
    assertThat(found.rows())
        .allSatisfy(
            row -> {
              assertThat(row.rounds()).hasSize(2);
              assertThat(row.p50().median()).isPositive();
              assertThat(row.p99().median()).isGreaterThanOrEqualTo(row.p50().median());
              assertThat(row.p999().median()).isGreaterThanOrEqualTo(row.p99().median());
              if (row.paceMicros() > 0) {
                assertThat(row.rounds().getFirst().operations())
                    .as("at most one a millisecond, %s", row)
                    .isBetween(1L, 51L);
              }
            });
  }

  /** Guard: what can not be started is left out; without that, the whole run fails. */
  @Test
  void whatCanNotBeHadIsLeftOutAndNamed() throws Exception {
    ChannelFindings found = measure(ChannelClient.JAVA, ChannelClient.UNIX_SOCKET);

    assertThat(found.leftOut()).containsKey("java").doesNotContainKey("unix-socket");
    assertThat(found.rows()).extracting(ChannelRow::client).containsOnly(ChannelClient.UNIX_SOCKET);
  }

  /** Guard: two that only poll are not put on one core. */
  @Test
  void pollersAreNotMeasuredOnOneCore() {
    assertThat(ChannelClient.ICEORYX2_SPIN.allows(Placement.ONE_CORE)).isFalse();
    assertThat(ChannelClient.ICEORYX2_SPIN.allows(Placement.TWO_CORES)).isTrue();
  }

  @Test
  void endThatDoesNotExistIsRefused() {
    assertThatThrownBy(
            () ->
                ChannelEnd.run(
                    "telepathy",
                    "",
                    new ByteArrayInputStream(new byte[0]),
                    new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("telepathy");
  }

  @Test
  void coresAreReadFromListsAndRanges() {
    assertThat(Cores.numbers("0-2,5,7-8")).containsExactly(0, 1, 2, 5, 7, 8);
  }

  @Test
  void resultsAreCheckedAsTheyComeIn() {
    RoundTrips result = new RoundTrips(3, 1.5, 2, 4);

    assertThat(RoundTrips.parse(result.line())).isEqualTo(result);
    assertThatThrownBy(() -> RoundTrips.parse("{\"operations\":1}"))
        .hasMessageContaining("without p50_us");
    assertThatThrownBy(() -> RoundTrips.parse("Killed")).hasMessageContaining("Killed");
  }
}
