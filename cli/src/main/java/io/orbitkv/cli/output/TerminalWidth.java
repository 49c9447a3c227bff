package io.orbitkv.cli.output;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** The width of this process's terminal, asked for once and only if somebody wants to know. */
final class TerminalWidth {
  /** Columns; 0 if there is no terminal or it does not tell. */
  static final int COLUMNS = ask();

  private TerminalWidth() {}

  private static int ask() {
    try {
      Process stty = new ProcessBuilder("stty", "size").redirectInput(new File("/dev/tty")).start();
      if (!stty.waitFor(1, TimeUnit.SECONDS)) {
        stty.destroyForcibly();
        return 0;
      }
      String answer =
          new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
      return answer.matches("\\d{1,5} \\d{1,5}")
          ? Integer.parseInt(answer.substring(answer.indexOf(' ') + 1))
          : 0;
    } catch (IOException e) {
      return 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 0;
    }
  }
}
