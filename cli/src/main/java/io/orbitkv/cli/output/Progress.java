package io.orbitkv.cli.output;

import java.io.OutputStream;
import java.io.PrintStream;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/**
 * How far a piece of work has come: a bar on a terminal, else a short line at each quarter.
 * Thread-safe. {@link #close} takes the bar away.
 */
public final class Progress implements AutoCloseable {
  private static final int LINES = 4;

  private final String task;
  private final long total;
  private final PrintStream stream;
  private final @Nullable ProgressBar bar;
  private long done;

  private Progress(String task, long total, PrintStream stream, @Nullable ProgressBar bar) {
    this.task = task;
    this.total = total;
    this.stream = stream;
    this.bar = bar;
  }

  /** Begins, shown on standard error. */
  public static Progress onStandardError(String task, long total, String unit) {
    return start(task, total, unit, System.err, Terminal.onStandardError());
  }

  /**
   * Begins.
   *
   * @param task what is done
   * @param total how many steps it has
   * @param unit what a step is, with a leading blank
   * @param stream where it is shown
   * @param terminal whether that is a terminal
   */
  static Progress start(
      String task, long total, String unit, PrintStream stream, boolean terminal) {
    if (!terminal) {
      return new Progress(task, total, stream, null);
    }
    ProgressBar bar =
        new ProgressBarBuilder()
            .setTaskName(task)
            .setInitialMax(total)
            .setUnit(unit, 1)
            .setStyle(ProgressBarStyle.ASCII)
            .setUpdateIntervalMillis(200)
            .setConsumer(new ConsoleProgressBarConsumer(stream))
            .clearDisplayOnFinish()
            .build();
    return new Progress(task, total, stream, bar);
  }

  /** Progress that nobody sees. */
  public static Progress silent() {
    return new Progress("", 0, new PrintStream(OutputStream.nullOutputStream()), null);
  }

  /** Counts steps that are done. */
  public synchronized void step(long steps) {
    long before = done;
    done += steps;
    if (bar != null) {
      bar.stepBy(steps);
    } else if (total > 0 && done * LINES / total > before * LINES / total) {
      stream.println(task + ": " + done + " of " + total);
    }
  }

  @Override
  public synchronized void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
