package io.orbitkv.cli.bench;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.orbitkv.bench.Comparison;
import io.orbitkv.bench.Fairness;
import io.orbitkv.bench.FanIn;
import io.orbitkv.bench.LoopShape;
import io.orbitkv.bench.Sample;
import io.orbitkv.bench.Spread;
import java.util.List;
import java.util.Locale;

/** Eight requesters of one source: all together beside one alone, and the slowest of them. */
final class FanInSection {
  private static final int REQUESTERS = 8;
  private static final long BLOCK_BYTES = 2 << 20;
  private static final int BATCH = 8;
  private static final long POOL_BYTES = 64 << 20;

  private final Bench bench;
  private final Page page;

  FanInSection(Bench bench, Page page) {
    this.bench = bench;
    this.page = page;
  }

  static long steps(int rounds, int ways) {
    return 2L * rounds * (1 + ways);
  }

  Section run() throws InterruptedException {
    page.line("");
    page.line("fan-in: " + REQUESTERS + " requesters of one source, 8 x 2 MiB each at a time");
    try (FanIn requesters =
        FanIn.open(bench.provider(), bench.options(), bench.owner(), REQUESTERS, POOL_BYTES)) {
      Comparison one = bench.compare(LoopShape.random(BLOCK_BYTES, BATCH, 1), requesters);
      Comparison all = bench.compare(LoopShape.random(BLOCK_BYTES, BATCH, REQUESTERS), requesters);
      page.line(
          "%-16s %9s %9s %13s %8s %14s %9s %4s"
              .formatted(
                  "",
                  "one GB/s",
                  "all GB/s",
                  "min..max",
                  "all/one",
                  "slowest/mean",
                  "Jain",
                  "err"));
      JsonArray rows = new JsonArray();
      rows.add(row(requesters.name(), one.own(), all.own()));
      for (String way : all.baselines().keySet()) {
        rows.add(row(way, one.samples(way), all.samples(way)));
      }
      JsonObject json = new JsonObject();
      json.addProperty("case", TransferCase.FAN_IN.toString());
      json.add("rows", rows);
      return new Section(json, one.errors() + all.errors());
    }
  }

  private JsonObject row(String name, List<Sample> one, List<Sample> all) {
    Spread alone = Comparison.gbps(one);
    Spread total = Comparison.gbps(all);
    Spread slowest = Spread.of(all, sample -> Fairness.slowest(sample.threadGbps()));
    Spread jain = Spread.of(all, sample -> Fairness.jain(sample.threadGbps()));
    long errors =
        one.stream().mapToLong(Sample::errors).sum() + all.stream().mapToLong(Sample::errors).sum();
    page.line(
        String.format(
            Locale.ROOT,
            "%-16s %9.3f %9.3f %13s %8.2f %14.2f %9.3f %4d",
            name,
            alone.median(),
            total.median(),
            String.format(Locale.ROOT, "%.2f..%.2f", total.min(), total.max()),
            total.median() / alone.median(),
            slowest.median(),
            jain.median(),
            errors));
    JsonObject json = new JsonObject();
    json.addProperty("name", name);
    TransferJson.addSpread(json, "one_gbps", alone);
    TransferJson.addSpread(json, "all_gbps", total);
    TransferJson.addSpread(json, "slowest_share", slowest);
    TransferJson.addSpread(json, "jain", jain);
    json.addProperty("errors", errors);
    return json;
  }
}
