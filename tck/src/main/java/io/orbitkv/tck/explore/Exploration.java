package io.orbitkv.tck.explore;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an exploration found.
 *
 * @param states how many states were visited; all that are reachable if there is no problem
 * @param problem null: no reachable state is broken, and from each some path without a further
 *     fault ends
 * @param trace the steps of a shortest path to the problem, faults marked as such; empty without
 *     one
 */
public record Exploration(int states, @Nullable String problem, List<String> trace) {
  /** The problem of a state from which nothing ends without a further fault. */
  public static final String STUCK = "STUCK: without a further fault no path leads to an end";

  /** Copies the trace. */
  public Exploration {
    trace = List.copyOf(trace);
  }

  /** The trace, a step a line, then the problem or "safe and live"; and the number of states. */
  public String text() {
    StringBuilder text = new StringBuilder();
    trace.forEach(line -> text.append("    ").append(line).append('\n'));
    return text.append("    => ")
        .append(problem == null ? "safe and live" : problem)
        .append(", ")
        .append(states)
        .append(" states\n")
        .toString();
  }
}
