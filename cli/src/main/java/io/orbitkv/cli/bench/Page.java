package io.orbitkv.cli.bench;

import io.orbitkv.cli.output.Terminal;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * Where lines go: out at once; but at the end where a progress bar would stand between them.
 * Nowhere if JSON is wanted. Used by one thread.
 */
final class Page {
  private final PrintWriter out;
  private final boolean silent;
  private final boolean late;
  private final List<String> kept = new ArrayList<>();

  Page(PrintWriter out, boolean silent) {
    this.out = out;
    this.silent = silent;
    late = Terminal.onStandardError() && Terminal.onStandardOutput();
  }

  /** Adds a line. */
  void line(String text) {
    if (silent) {
      return;
    }
    if (late) {
      kept.add(text);
    } else {
      out.println(text);
      out.flush();
    }
  }

  /** Prints what was kept. */
  void end() {
    kept.forEach(out::println);
    kept.clear();
    out.flush();
  }
}
