package io.orbitkv.systemtests.simulation;

import java.util.ArrayList;
import java.util.List;

/** What happened in a schedule, in order; kept only where somebody will read it. */
final class Trace {
  private final boolean kept;
  private final List<String> lines = new ArrayList<>();

  Trace(boolean kept) {
    this.kept = kept;
  }

  void add(long now, Object where, Object what) {
    if (kept) {
      lines.add(lines.size() + " [" + now / 1000 + " us] " + where + ": " + what);
    }
  }

  List<String> lines() {
    return List.copyOf(lines);
  }
}
