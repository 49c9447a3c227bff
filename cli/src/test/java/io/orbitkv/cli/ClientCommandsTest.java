package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What the commands that talk to a Manager say when they are called wrongly or find none. */
class ClientCommandsTest {
  private record Result(int code, String out, String err) {}

  @TempDir private Path directory = Path.of("");

  private static Result run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command =
        Main.withErrorLine(new CommandLine(Main.class))
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err));
    int code = command.execute(arguments);
    return new Result(code, out.toString(), err.toString());
  }

  private static void assertOneLine(Result result, int code, String... parts) {
    assertThat(result.err()).startsWith("orbitkv: ").contains(parts).endsWith("\n");
    assertThat(result.err().lines()).as(result.err()).hasSize(1);
    assertThat(result.code()).isEqualTo(code);
    assertThat(result.out()).isEmpty();
  }

  private String socket() {
    return directory.resolve("none.sock").toString();
  }

  @Test
  void putRefusesAMissingAnEmptyFileAndADirectoryBeforeItConnects() throws Exception {
    Path empty = Files.createFile(directory.resolve("empty"));

    assertOneLine(run("put", "k", "/no/such", "--socket", socket()), 1, "/no/such: no such file");
    assertOneLine(run("put", "k", empty.toString(), "--socket", socket()), 1, "is empty");
    assertOneLine(
        run("put", "k", directory.toString(), "--socket", socket()), 1, "not a regular file");
  }

  @Test
  void aMissingManagerIsNamedByItsSocket() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "bytes");

    assertOneLine(run("put", "k", file.toString(), "--socket", socket()), 1, socket());
    assertOneLine(run("get", "k", "--socket", socket()), 1, socket());
    assertOneLine(run("stat", "--socket", socket()), 1, socket());
  }

  @Test
  void aSocketThatIsNoneIsSaid() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "bytes");

    assertOneLine(
        run("stat", "--socket", file.toString()), 1, file + ": is not a socket; give the one");
  }

  @Test
  void aPoolWithoutRoomForOneBlockIsWrongUse() {
    assertOneLine(
        run("quickstart", "--pool-bytes", "1MiB"),
        2,
        "--pool-bytes 1.00 MiB has no room for one block of llama-3-8b, 2.00 MiB");
  }

  @Test
  void wrongUseEndsWithTwo() {
    assertOneLine(run("get", "k", "--json", "--socket", socket()), 2, "--json needs FILE");
    assertOneLine(run("get", "", "--socket", socket()), 2, "KEY is empty");
    assertOneLine(run("get", "k", "--deadline", "0", "--socket", socket()), 2, "--deadline 0.0");
    assertOneLine(run("replay", "t", "--speed", "fast"), 2, "--speed 'fast'");
    assertOneLine(run("replay", "t", "--speed", "-1"), 2, "speed -1.0 must be more than 0");
    assertOneLine(run("replay", "t", "--block-bytes", "0"), 2, "'0' is not a size");
    assertOneLine(run("replay", "t", "--block-bytes", "2Mib2"), 2, "'2Mib2' is not a size");
    assertOneLine(run("replay", "t", "--concurrency", "0"), 2, "concurrency 0");
    assertOneLine(run("replay", "t", "--limit", "0"), 2, "--limit 0");
    assertOneLine(run("quickstart", "--model", "gpt"), 2, "--model gpt is not known");
    assertOneLine(run("quickstart", "--requests", "241"), 2, "--requests 241 is out of range");
  }

  @Test
  void aBadTraceIsRefusedBeforeAnyManagerIsAsked() throws Exception {
    Path trace = Files.writeString(directory.resolve("t.jsonl"), "{\"timestamp\": -4}\n");

    assertOneLine(
        run("replay", trace.toString(), "--managers", socket()),
        1,
        trace + ":1: timestamp is or holds -4; write a whole number");
  }

  @Test
  void aReplayNeedsAllItsManagersAtItsStart() throws Exception {
    Path trace =
        Files.writeString(
            directory.resolve("t.jsonl"),
            "{\"timestamp\":0,\"input_length\":1,\"output_length\":1,\"hash_ids\":[1]}\n");

    assertOneLine(run("replay", trace.toString(), "--managers", socket()), 1, socket());
  }
}
