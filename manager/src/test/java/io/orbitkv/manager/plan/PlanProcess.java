package io.orbitkv.manager.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.RestorePlan;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A running {@link PlanMain}. */
final class PlanProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader says;
  private final Writer told;

  private PlanProcess(Process process) {
    this.process = process;
    this.says =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    this.told = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
  }

  /** Started, and ready. */
  static PlanProcess start(String task, Path socket) {
    try {
      PlanProcess started = new PlanProcess(PlanMain.start(task, socket));
      assertThat(started.word()).isEqualTo("ready");
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The next word that it says. */
  String word() {
    try {
      String line = says.readLine();
      return line == null ? "(ended)" : line;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Tells it a plan by its numbers; its answer. */
  String tell(RestorePlan plan) {
    return tell(plan.record(), plan.generation());
  }

  String tell(int record, long generation) {
    try {
      told.write(record + " " + generation + "\n");
      told.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return word();
  }

  /** SIGKILL; gone on return. */
  void kill() {
    process.destroyForcibly();
    process.onExit().join();
  }

  /** SIGKILL, without a wait. */
  void beginKill() {
    process.destroyForcibly();
  }

  @Override
  public void close() {
    kill();
  }
}
