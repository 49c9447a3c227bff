package io.orbitkv.systemtests.rig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Asks a JVM in another process for what its operator can ask.
 *
 * @param pid of that process
 * @param directory where the answer is kept meanwhile
 */
record Jcmd(long pid, Path directory) {
  /** The answer to a command with its arguments. */
  String run(String... command) {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString());
    line.add(Long.toString(pid));
    line.addAll(List.of(command));
    try {
      Path out = Files.createTempFile(directory, "jcmd-", ".out");
      // Redirected, because a full pipe that nobody reads would hang it.
      Process process =
          new ProcessBuilder(line).redirectErrorStream(true).redirectOutput(out.toFile()).start();
      process.onExit().join();
      String text = Files.readString(out);
      Files.delete(out);
      return text;
    } catch (IOException e) {
      throw new UncheckedIOException(String.join(" ", line), e);
    }
  }
}
