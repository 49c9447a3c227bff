package io.orbitkv.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShippedTraceTest {
  @Test
  void isWhatItsGeneratorMakes() throws Exception {
    try (InputStream stream = ShippedTrace.class.getResourceAsStream("quickstart.jsonl")) {
      assertThat(stream).isNotNull();
      String shipped = new String(stream.readAllBytes(), StandardCharsets.UTF_8);

      assertThat(shipped.lines().toList()).isEqualTo(ConversationTrace.lines());
    }
  }

  @Test
  void sharesSystemPromptsAndConversations() {
    List<TraceRequest> requests = ShippedTrace.read(64);
    long blocks = requests.stream().mapToLong(request -> request.hashes().size()).sum();

    assertThat(requests).hasSize(64);
    assertThat(ShippedTrace.distinctBlocks(requests)).isEqualTo(372);
    assertThat((double) IdealCache.hits(requests) / blocks).isBetween(0.7, 0.8);
    assertThat(ShippedTrace.read(Integer.MAX_VALUE))
        .hasSize(240)
        .allSatisfy(
            request ->
                assertThat(request.inputTokens())
                    .isEqualTo(
                        (long) request.hashes().size() * ConversationTrace.TOKENS_PER_BLOCK));
  }
}
