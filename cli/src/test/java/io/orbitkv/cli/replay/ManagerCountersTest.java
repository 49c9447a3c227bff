package io.orbitkv.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonParseException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ManagerCountersTest {
  private static final String STATUS =
      """
      {"receipts": {"LOCAL_QUIESCED": 5, "PEER_RECEIPT": 2},
       "receipts_destination": {"LOCAL_QUIESCED": 3, "PEER_RECEIPT": 1},
       "tickets": {"submitted": 9, "undrained": 2},
       "grants": {"given": 9, "active": 1, "retired": 3, "quarantined": 4},
       "quarantine": {"bytes": 4096, "holds": 3}}
      """;

  @Test
  void readsReceiptsAndQuarantine() {
    ManagerCounters counters = ManagerCounters.ofStatus(STATUS);

    assertThat(counters.receipts())
        .containsExactlyInAnyOrderEntriesOf(Map.of("LOCAL_QUIESCED", 5L, "PEER_RECEIPT", 2L));
    assertThat(counters.allReceipts()).isEqualTo(7);
    assertThat(counters.destinationReceipts()).isEqualTo(4);
    assertThat(counters.undrained()).isEqualTo(10);
    assertThat(counters.quarantined()).isEqualTo(3);
    assertThat(counters.quarantinedBytes()).isEqualTo(4096);
  }

  @Test
  void theDifferenceLeavesOutWhatDidNotChange() {
    ManagerCounters before = ManagerCounters.ofStatus("{\"receipts\":{\"PEER_RECEIPT\":2}}");

    ManagerCounters since = ManagerCounters.ofStatus(STATUS).since(before);

    assertThat(since.receipts()).containsExactly(Map.entry("LOCAL_QUIESCED", 5L));
    assertThat(since.plus(since).allReceipts()).isEqualTo(10);
    assertThat(since.plus(since).undrained()).isEqualTo(20);
    assertThat(since.plus(since).quarantinedBytes()).isEqualTo(8192);
  }

  @Test
  void whatAManagerDoesNotTellIsZeroAndNoObjectIsRefused() {
    assertThat(ManagerCounters.ofStatus("{}")).isEqualTo(ManagerCounters.NONE);
    assertThatThrownBy(() -> ManagerCounters.ofStatus("[]")).isInstanceOf(JsonParseException.class);
  }
}
