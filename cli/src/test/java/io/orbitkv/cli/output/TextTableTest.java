package io.orbitkv.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextTableTest {
  private final TextTable table =
      new TextTable().row("a", "one two three four five six seven").row("long", "x".repeat(50));

  @Test
  void valuesAreWrappedAtBlanksAndNeverInAWord() {
    assertThat(table.render(30))
        .isEqualTo(
            "a     one two three four five\n      six seven\nlong  " + "x".repeat(50) + "\n");
    assertThat(table.render(Integer.MAX_VALUE)).hasLineCount(2);
  }

  @Test
  void aTerminalIsTakenAs60To120ColumnsWide() {
    assertThat(Terminal.clamped(20, 100)).isEqualTo(60);
    assertThat(Terminal.clamped(80, 100)).isEqualTo(80);
    assertThat(Terminal.clamped(300, 100)).isEqualTo(120);
    assertThat(Terminal.clamped(0, 100)).isEqualTo(100);
  }
}
