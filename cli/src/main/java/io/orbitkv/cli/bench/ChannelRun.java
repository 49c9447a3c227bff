package io.orbitkv.cli.bench;

import io.orbitkv.bench.Machine;
import io.orbitkv.bench.channel.ChannelBench;
import io.orbitkv.bench.channel.ChannelFindings;
import io.orbitkv.bench.channel.ChannelPlan;
import io.orbitkv.bench.channel.ChannelRow;
import io.orbitkv.bench.channel.ChannelSetUp;
import io.orbitkv.cli.output.Progress;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.stream.Collectors;

/** Measures round trips as a plan says, and prints them. Used by one thread, once. */
public final class ChannelRun {
  private final ChannelPlan plan;
  private final boolean json;
  private final PrintWriter out;

  /**
   * Nothing is measured yet.
   *
   * @param json whether a JSON list is printed instead of a table
   * @param out where that goes
   */
  public ChannelRun(ChannelPlan plan, boolean json, PrintWriter out) {
    this.plan = plan;
    this.json = json;
    this.out = out;
  }

  /**
   * Measures. What is left out is told on standard error.
   *
   * @return whether there is a row
   */
  public boolean run(ChannelSetUp setUp) throws InterruptedException {
    ChannelFindings found;
    try (Progress progress = Progress.onStandardError("bench channel, runs", plan.steps(), "");
        ChannelBench bench = ChannelBench.open(plan, setUp, () -> progress.step(1))) {
      found = bench.measure();
    }
    found
        .leftOut()
        .forEach((what, why) -> System.err.println("orbitkv: left out: " + what + ": " + why));
    if (json) {
      out.println(ChannelJson.of(found.rows()));
    } else {
      print(found);
    }
    out.flush();
    return !found.rows().isEmpty();
  }

  private void print(ChannelFindings found) {
    out.println(Machine.line());
    out.println(
        String.format(
            Locale.ROOT,
            "64 bytes there and 64 back, medians of %d rounds of %s s",
            plan.rounds(),
            plan.seconds()));
    out.println(ChannelTable.head());
    for (ChannelRow row : found.rows()) {
      out.println(ChannelTable.row(row, found.rows()));
    }
    out.println(
        String.format(
            Locale.ROOT,
            "idle for %s s afterwards: %s",
            plan.idleSeconds(),
            found.wakes().isEmpty()
                ? "no thread of the channel was woken"
                : "woken were "
                    + found.wakes().entrySet().stream()
                        .map(woken -> woken.getKey() + " " + woken.getValue() + " times")
                        .collect(Collectors.joining(", "))));
  }
}
