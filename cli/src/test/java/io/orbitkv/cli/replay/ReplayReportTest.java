package io.orbitkv.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import io.orbitkv.adapter.Origin;
import io.orbitkv.api.FaultCode;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReplayReportTest {
  private static ReplayTally tally() {
    ReplayTally tally = new ReplayTally(2);
    tally.began(0, new TraceRequest(0, 0, 0, List.of(1L, 2L)));
    tally.read(1_000_000, 0, false);
    tally.published(100);
    tally.published(100);
    tally.publishTook(1_000);
    tally.began(1, new TraceRequest(0, 0, 0, List.of(1L, 2L, 3L)));
    tally.hit(Origin.LOCAL, 100, 0);
    tally.hit(Origin.PEER, 100, 0);
    tally.read(2_000_000, 2, true);
    tally.present(100);
    return tally;
  }

  private static ReplayReport report(ReplayTally tally, long missing) {
    ManagerCounters counters = new ManagerCounters(Map.of("LOCAL_QUIESCED", 2L), 1, 0, 0, 7);
    return tally.report(2, 3_000_000_000L, counters, missing, true);
  }

  @Test
  void jsonHasTheFigures() {
    JsonObject json = report(tally(), 0).toJson();

    assertThat(json.get("requests").getAsLong()).isEqualTo(2);
    assertThat(json.get("blocks").getAsLong()).isEqualTo(5);
    assertThat(json.get("hits").getAsLong()).isEqualTo(2);
    assertThat(json.get("misses").getAsLong()).isEqualTo(3);
    assertThat(json.get("hit_ratio").getAsDouble()).isEqualTo(0.4);
    assertThat(json.get("ideal_hit_ratio").getAsDouble()).isEqualTo(0.4);
    assertThat(json.get("published_blocks").getAsLong()).isEqualTo(2);
    assertThat(json.get("published_bytes").getAsLong()).isEqualTo(200);
    assertThat(json.get("present_blocks").getAsLong()).isEqualTo(1);
    assertThat(json.get("local_blocks").getAsLong()).isEqualTo(1);
    assertThat(json.get("local_bytes").getAsLong()).isEqualTo(100);
    assertThat(json.get("peer_blocks").getAsLong()).isEqualTo(1);
    assertThat(json.get("peer_bytes").getAsLong()).isEqualTo(100);
    assertThat(json.get("verified_bytes").getAsLong()).isEqualTo(200);
    assertThat(json.get("mismatched_bytes").getAsLong()).isZero();
    assertThat(json.get("failed_operations").getAsLong()).isZero();
    // 200 bytes in the 2 ms of the one request with a hit.
    assertThat(json.get("gbps").getAsDouble()).isEqualTo(200 / 2e6);
    assertThat(json.get("seconds").getAsDouble()).isEqualTo(3.0);
    JsonObject latency = json.getAsJsonObject("latency_ms");
    assertThat(latency.get("p50").getAsDouble()).isBetween(1.99, 2.01);
    assertThat(latency.get("max").getAsDouble()).isBetween(1.99, 2.01);
    assertThat(json.getAsJsonObject("latency_all_ms").get("p50").getAsDouble())
        .isBetween(0.99, 1.01);
    assertThat(json.getAsJsonObject("receipts").get("LOCAL_QUIESCED").getAsLong()).isEqualTo(2);
    assertThat(json.get("missing_receipts").getAsLong()).isZero();
    assertThat(json.get("quarantined_bytes").getAsLong()).isEqualTo(7);
  }

  @Test
  void oneWrongByteOrOneMissingReceiptIsNoProof() {
    ReplayTally wrong = tally();
    wrong.hit(Origin.PEER, 100, 1);

    assertThat(report(tally(), 0).proven()).isTrue();
    assertThat(report(wrong, 0).proven()).isFalse();
    assertThat(report(wrong, 0).toTable()).contains("1 bytes WRONG");
    assertThat(report(tally(), 1).proven()).isFalse();
  }

  @Test
  void failuresAreCountedByReasonAndNotWithoutEnd() {
    ReplayTally tally = tally();
    tally.failed(FaultCode.DEADLINE, "publish to S: no answer\nin 10 ms");
    tally.failed(FaultCode.DEADLINE, "publish to S: no answer\nin 10 ms");
    for (int i = 0; i < 100; i++) {
      tally.failed(FaultCode.EXHAUSTED, "reason " + i);
    }

    ReplayReport report = report(tally, 0);

    assertThat(report.failed()).isEqualTo(102);
    assertThat(report.deadlines()).isEqualTo(2);
    assertThat(report.failures())
        .hasSize(17)
        .containsEntry("DEADLINE: publish to S: no answer in 10 ms", 2L)
        .containsEntry("others", 85L);
  }

  @Test
  void theTableSaysWhatMattersWithUnits() {
    assertThat(report(tally(), 0).toTable().lines())
        .contains(
            "requests           2",
            "hits               2 (40.0 %)",
            "  ideal            40.0 % with a cache that never forgets",
            "  from peers       1 blocks, 100 B",
            "verified           200 B, every byte right",
            "  LOCAL_QUIESCED   2",
            "missing receipts   0")
        .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(100));
  }

  @Test
  void ownersThatCanNotBeSeenAreSaid() {
    ReplayReport report = tally().report(2, 1, ManagerCounters.NONE, 0, false);

    assertThat(report.toJson().get("source_receipts_visible").getAsBoolean()).isFalse();
    assertThat(report.toTable()).contains("missing receipts   0 (the owners' not counted");
    assertThat(report(tally(), 0).toTable()).doesNotContain("not counted");
  }

  @Test
  void anEmptyReplayDividesByNothing() {
    ReplayReport report = new ReplayTally(0).report(0, 0, ManagerCounters.NONE, 0, true);

    assertThat(report.toJson().get("hit_ratio").getAsDouble()).isZero();
    assertThat(report.toTable()).contains("latency, hits");
  }
}
