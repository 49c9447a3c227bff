package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.cli.output.Progress;
import io.orbitkv.cli.replay.Replay;
import io.orbitkv.cli.replay.ReplayOptions;
import io.orbitkv.cli.replay.ReplayReport;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class VerdictTest {
  private static ReplayReport report(long failed, Map<String, Long> failures) throws Exception {
    ReplayOptions options = new ReplayOptions(1, 1, "n", 1, Duration.ofSeconds(1), 1);
    ReplayReport none;
    try (Replay replay = Replay.connect(List.of(), List.of(), options, Progress.silent())) {
      none = replay.run();
    }
    return new ReplayReport(
        1,
        1,
        0,
        none.local(),
        none.peer(),
        none.published(),
        none.present(),
        0,
        0,
        0,
        failed,
        0,
        failures,
        0,
        0,
        1,
        none.hitLatency(),
        none.allLatency(),
        none.counters(),
        0,
        true);
  }

  @Test
  void failuresAreSaidWithTheReasonThatCameMostOften() throws Exception {
    ReplayReport failed = report(7, Map.of("DEADLINE: late", 2L, "EXHAUSTED: full", 5L));

    assertThatThrownBy(() -> Verdict.checkFailures(failed))
        .isInstanceOf(CommandException.class)
        .hasMessage("7 operations failed, most of them by EXHAUSTED: full");
    assertThatCode(() -> Verdict.checkFailures(report(0, Map.of()))).doesNotThrowAnyException();
  }
}
