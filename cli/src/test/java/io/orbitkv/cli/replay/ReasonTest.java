package io.orbitkv.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReasonTest {
  @Test
  void onlyWhatWasCutIsEndedBehindAWholeWord() {
    String cut =
        "pool: no room for 2097152 bytes, 1048576 are free and nothing can be evicted; start wit";

    assertThat(Reason.whole(cut + "h")).hasSize(88 - "with".length() + 2).endsWith("start...");
    assertThat(Reason.whole(cut)).isEqualTo(cut);
    assertThat(Reason.whole("x".repeat(88))).isEqualTo("x".repeat(88) + "...");
    assertThat(Reason.whole("word ".repeat(16) + "ü".repeat(3))).endsWith("word...");
  }
}
