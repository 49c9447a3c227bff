package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.cli.replay.ShippedTrace;
import io.orbitkv.cli.replay.TraceRequest;
import java.util.List;
import org.junit.jupiter.api.Test;

class QuickstartTest {
  private static TraceRequest request(Long... hashes) {
    return new TraceRequest(0, 0, 0, List.of(hashes));
  }

  @Test
  void blocksMoveOnlyIfTheTurnComesToAManagerThatLacksThem() {
    assertThat(Quickstart.movesBlocks(List.of(request(1L), request(1L)))).isTrue();
    assertThat(Quickstart.movesBlocks(List.of(request(1L), request(2L), request(1L)))).isFalse();
    assertThat(Quickstart.movesBlocks(ShippedTrace.read(1))).isFalse();
    assertThat(Quickstart.movesBlocks(ShippedTrace.read(64))).isTrue();
  }
}
