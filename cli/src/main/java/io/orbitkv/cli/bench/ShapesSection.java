package io.orbitkv.cli.bench;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.orbitkv.bench.Comparison;
import io.orbitkv.bench.IdleCpu;
import io.orbitkv.bench.LoopShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.Function;

/** Shapes, one row each, with the geometric mean of their ratios. */
final class ShapesSection {
  private static final double IDLE_SECONDS = 2;

  private final Bench bench;
  private final Page page;

  ShapesSection(Bench bench, Page page) {
    this.bench = bench;
    this.page = page;
  }

  /** Measures them as the table of the field. */
  List<Comparison> table(List<LoopShape> shapes) throws InterruptedException {
    page.line(TransferTable.head());
    return rows(shapes, TransferTable::row);
  }

  /** Measures them as a case: less columns, more ratios. */
  Section run(TransferCase name, List<LoopShape> shapes) throws InterruptedException {
    page.line("");
    page.line(name + ", medians of " + bench.plan().rounds() + " rounds");
    page.line(CaseTable.head());
    List<Comparison> done = rows(shapes, CaseTable::row);
    JsonObject json = new JsonObject();
    json.addProperty("case", name.toString());
    JsonArray rows = new JsonArray();
    done.stream().map(TransferJson::of).forEach(rows::add);
    json.add("rows", rows);
    addMean(json, done, false);
    addMean(json, done, true);
    addIdle(json);
    return new Section(json, done.stream().mapToLong(Comparison::errors).sum());
  }

  private List<Comparison> rows(List<LoopShape> shapes, Function<Comparison, String> row)
      throws InterruptedException {
    List<Comparison> done = new ArrayList<>();
    for (LoopShape shape : shapes) {
      Comparison comparison = bench.compare(shape);
      done.add(comparison);
      page.line(row.apply(comparison));
      String failure = comparison.failure();
      if (!failure.isEmpty()) {
        page.line("  an operation failed: " + failure);
      }
    }
    return done;
  }

  private void addMean(JsonObject json, List<Comparison> done, boolean polling) {
    OptionalDouble rate = Ratios.mean(done, polling, Ratios::rate);
    OptionalDouble p50 = Ratios.mean(done, polling, Ratios::p50);
    OptionalDouble cpu = Ratios.mean(done, polling, Ratios::cpu);
    if (rate.isEmpty() || p50.isEmpty() || cpu.isEmpty()) {
      return;
    }
    page.line(
        String.format(
            Locale.ROOT,
            "geometric mean of the ratios to %s: GB/s %.2f, p50 %.2f, CPU %.2f",
            polling ? "the polling loop" : "the best sleeping loop",
            rate.getAsDouble(),
            p50.getAsDouble(),
            cpu.getAsDouble()));
    JsonObject mean = new JsonObject();
    mean.addProperty("gbps", rate.getAsDouble());
    mean.addProperty("p50", p50.getAsDouble());
    mean.addProperty("cpu_s_per_gb", cpu.getAsDouble());
    json.add(polling ? "geometric_mean_polling" : "geometric_mean", mean);
  }

  private void addIdle(JsonObject json) throws InterruptedException {
    IdleCpu idle = bench.requester().idle(IDLE_SECONDS);
    page.line(Section.idleLine("requester", idle.requester(), "owner", idle.owner()));
    json.add("idle", Section.idleJson("requester", idle.requester(), "owner", idle.owner()));
  }
}
