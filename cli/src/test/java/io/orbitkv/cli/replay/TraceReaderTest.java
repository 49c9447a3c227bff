package io.orbitkv.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TraceReaderTest {
  private static final String GOOD =
      "{\"timestamp\": 27, \"input_length\": 1100, \"output_length\": 12, \"hash_ids\": [5, 0, 9]}";

  @TempDir private Path directory = Path.of("");

  private Path trace(String... lines) throws IOException {
    return Files.write(directory.resolve("trace.jsonl"), List.of(lines));
  }

  @Test
  void readsTheFieldsAndSkipsTheUnknownAndTheBlank() throws Exception {
    Path file =
        trace(
            GOOD,
            "",
            "{\"hash_ids\":[9223372036854775807],\"x\":{\"y\":[1]},\"output_length\":0,"
                + "\"input_length\":3,\"timestamp\":28}");

    assertThat(TraceReader.read(file, Long.MAX_VALUE))
        .containsExactly(
            new TraceRequest(27, 1100, 12, List.of(5L, 0L, 9L)),
            new TraceRequest(28, 3, 0, List.of(Long.MAX_VALUE)));
  }

  @Test
  void aBlockThatARequestRepeatsCountsOnce() throws Exception {
    Path file = trace(GOOD.replace("[5, 0, 9]", "[5, 0, 5, 9, 0]"));

    assertThat(TraceReader.read(file, 1).getFirst().hashes()).containsExactly(5L, 0L, 9L);
  }

  @Test
  void aRequestMayHaveNoBlock() throws Exception {
    Path file = trace(GOOD.replace("[5, 0, 9]", "[]"));

    assertThat(TraceReader.read(file, 1).getFirst().hashes()).isEmpty();
  }

  @Test
  void looksAtNoLineBehindTheLimit() throws Exception {
    Path file = trace(GOOD, GOOD, "not a request");

    assertThat(TraceReader.read(file, 2)).hasSize(2);
    assertThatThrownBy(() -> TraceReader.read(file, 3)).isInstanceOf(TraceException.class);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{\"timestamp\": 27 | is not valid JSON; write one complete object a line",
        "{'timestamp': 27} | is not valid JSON; write one complete object a line",
        "[1, 2] | is not a JSON object; write one object a line",
        "17 | is not a JSON object; write one object a line",
        "{} {} | is not valid JSON; write one complete object a line",
        "{} | timestamp is missing; add it",
        "{\"timestamp\":1,\"output_length\":1,\"hash_ids\":[1]} | input_length is missing; add it",
        "{\"timestamp\":1,\"input_length\":1,\"hash_ids\":[1]} | output_length is missing; add it",
        "{\"timestamp\":1,\"input_length\":1,\"output_length\":1} | hash_ids is missing; add it",
        "{\"timestamp\":1,\"timestamp\":1} | timestamp is given twice; leave one",
        "{\"timestamp\":-1} | timestamp is or holds -1; write a whole number",
        "{\"timestamp\":1.5} | timestamp is or holds 1.5; write a whole number",
        "{\"timestamp\":\"1\"} | timestamp is or holds string; write a whole number",
        "{\"input_length\":null} | input_length is or holds null; write a whole number",
        "{\"hash_ids\":7} | hash_ids is not a list; write it as [n, n, ...]",
        "{\"hash_ids\":[1,-2]} | hash_ids is or holds -2; write a whole number",
        "{\"hash_ids\":[1,[2]]} | hash_ids is or holds begin_array; write a whole number",
        "{\"hash_ids\":[9223372036854775808]} | hash_ids is or holds 9223372036854775808; write",
      })
  void aBadLineIsNamedWithItsCauseAndItsFix(String line, String said) throws Exception {
    Path file = trace(GOOD, line, GOOD);

    assertThatThrownBy(() -> TraceReader.read(file, Long.MAX_VALUE))
        .isInstanceOf(TraceException.class)
        .hasMessageStartingWith(file + ":2: " + said);
  }

  @Test
  void twoObjectsOnOneLineAreRefused() throws Exception {
    Path file = trace(GOOD + " " + GOOD);

    assertThatThrownBy(() -> TraceReader.read(file, 9))
        .hasMessage(file + ":1: is not valid JSON; write one complete object a line");
  }

  @Test
  void whatIsNotUtf8IsRefused() throws Exception {
    Path file = Files.write(directory.resolve("bad.jsonl"), new byte[] {'{', (byte) 0xC3, '}'});

    assertThatThrownBy(() -> TraceReader.read(file, 9))
        .hasMessage(file + ":1: is not UTF-8; write the trace as UTF-8");
  }

  @Test
  void aMissingFileADirectoryAndAnEmptyFileAreNamed() throws Exception {
    Path none = directory.resolve("none.jsonl");
    Path empty = trace("", "");

    assertThatThrownBy(() -> TraceReader.read(none, 9)).hasMessageStartingWith(none + ": no such");
    assertThatThrownBy(() -> TraceReader.read(directory, 9))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining(directory.toString());
    assertThatThrownBy(() -> TraceReader.read(empty, 9))
        .hasMessageStartingWith(empty + ": no request in it");
  }
}
