package io.orbitkv.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProgressTest {
  @Test
  void withoutATerminalThereIsALineAtEachQuarter() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(bytes, true, StandardCharsets.UTF_8);

    try (Progress progress = Progress.start("work", 10, " steps", stream, false)) {
      for (int i = 0; i < 10; i++) {
        progress.step(1);
      }
    }

    assertThat(bytes.toString(StandardCharsets.UTF_8).lines())
        .containsExactly("work: 3 of 10", "work: 5 of 10", "work: 8 of 10", "work: 10 of 10");
  }
}
