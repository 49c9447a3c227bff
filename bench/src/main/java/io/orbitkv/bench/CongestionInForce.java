package io.orbitkv.bench;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** What the kernel says of this host's TCP connections. */
final class CongestionInForce {
  private static final int PATIENCE_SECONDS = 5;

  private CongestionInForce() {}

  /**
   * The congestion controls of the connections to a port, as {@code ss} shows them; may be empty.
   */
  static String to(int port) {
    if (port <= 0) {
      return "";
    }
    try {
      Process ss =
          new ProcessBuilder("ss", "-Htin", "state", "established", "dport", "= :" + port)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      List<String> lines;
      try (var out = ss.inputReader()) {
        lines = out.lines().toList();
      }
      if (!ss.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        ss.destroyForcibly();
      }
      // The line below an address begins with the name, behind a tab.
      return lines.stream()
          .filter(line -> line.startsWith("\t"))
          .map(line -> line.strip().split(" ", 2)[0])
          .distinct()
          .sorted()
          .collect(Collectors.joining(" and "));
    } catch (IOException e) {
      return "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }
}
