package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KvShapeTest {
  @ParameterizedTest
  @CsvSource({
    "llama-3-8b,    2097152",
    "mistral-7b,    2097152",
    "llama-3-70b,   5242880",
    "qwen2.5-72b,   5242880",
    "qwen2.5-7b,     917504",
    "qwen2.5-0.5b,   196608",
    "llama-3.2-1b,   524288",
    "gemma-2-9b,    5505024",
  })
  void blocksAreAsLongAsTheArithmeticSays(String model, long bytes) {
    assertThat(KvShape.named(model).blockBytes()).isEqualTo(bytes);
  }

  @Test
  void anUnknownModelIsRefusedWithThoseThatAreKnown() {
    assertThatThrownBy(() -> KvShape.named("gpt"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("--model gpt is not known; give one of llama-3-8b, ");
  }
}
