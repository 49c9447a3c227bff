package io.orbitkv.cli.bench;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.orbitkv.bench.Contender;
import io.orbitkv.bench.LoopShape;
import io.orbitkv.bench.Sample;
import io.orbitkv.bench.SocketLoopClient;
import io.orbitkv.bench.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * One small block, alone and while another thread reads batches of 64 MiB from the same peer. The
 * baseline's two threads have a connection each, so it is the best that sharing could be.
 */
final class MixedSection {
  private static final LoopShape SMALL = LoopShape.random(64 << 10, 1, 1);
  private static final LoopShape BULK = LoopShape.random(2 << 20, 32, 1);
  private static final double OVERLAP_SECONDS = 0.3;

  private record Pair(Sample alone, Sample withBulk, Sample bulk) {}

  private final Bench bench;
  private final Page page;

  MixedSection(Bench bench, Page page) {
    this.bench = bench;
    this.page = page;
  }

  static long steps(int rounds, int ways) {
    return 2L * rounds * (1 + ways);
  }

  Section run() throws InterruptedException {
    page.line("");
    page.line("mixed: a block of 64 KiB, alone and beside batches of 32 x 2 MiB from one peer");
    page.line(
        "%-16s %10s %10s %12s %12s %10s %10s %4s"
            .formatted(
                "", "alone p50", "p99 us", "beside p50", "p99 us", "p50 x", "bulk GB/s", "err"));
    SocketLoopClient loop = bench.loop();
    if (loop == null) {
      return rounds(List.of(), List.of());
    }
    try (SocketLoopClient second = loop.another(bench.plan().poolBytes())) {
      return rounds(loop.sleepingWays(), second.sleepingWays());
    }
  }

  private Section rounds(List<Contender> small, List<Contender> bulk) throws InterruptedException {
    List<List<Pair>> pairs = new ArrayList<>();
    for (int i = 0; i <= small.size(); i++) {
      pairs.add(new ArrayList<>());
    }
    for (int round = 0; round < bench.plan().rounds(); round++) {
      pairs.getFirst().add(pair(bench.requester().part(0, 2), bench.requester().part(1, 2)));
      for (int i = 0; i < small.size(); i++) {
        pairs.get(i + 1).add(pair(small.get(i), bulk.get(i)));
      }
    }
    JsonObject json = new JsonObject();
    json.addProperty("case", TransferCase.MIXED.toString());
    JsonArray rows = new JsonArray();
    long errors = 0;
    for (int i = 0; i < pairs.size(); i++) {
      String name = i == 0 ? bench.requester().name() : small.get(i - 1).name();
      JsonObject row = row(name, pairs.get(i));
      rows.add(row);
      errors += row.get("errors").getAsLong();
    }
    json.add("rows", rows);
    return new Section(json, errors);
  }

  private Pair pair(Contender small, Contender bulk) throws InterruptedException {
    TransferPlan plan = bench.plan();
    Sample alone = small.measure(SMALL, plan.warmUpSeconds(), plan.seconds());
    bench.step();
    double longer = plan.warmUpSeconds() + plan.seconds() + OVERLAP_SECONDS;
    FutureTask<Sample> load = new FutureTask<>(() -> bulk.measure(BULK, OVERLAP_SECONDS, longer));
    Thread.ofPlatform().daemon().name("bench-bulk").start(load);
    Sample beside = small.measure(SMALL, plan.warmUpSeconds() + OVERLAP_SECONDS, plan.seconds());
    try {
      Pair pair = new Pair(alone, beside, load.get());
      bench.step();
      return pair;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException fault) {
        throw fault;
      }
      throw new IllegalStateException(e);
    }
  }

  private JsonObject row(String name, List<Pair> pairs) {
    Spread alone50 = spread(pairs, pair -> pair.alone().whole().p50());
    Spread alone99 = spread(pairs, pair -> pair.alone().whole().p99());
    Spread beside50 = spread(pairs, pair -> pair.withBulk().whole().p50());
    Spread beside99 = spread(pairs, pair -> pair.withBulk().whole().p99());
    Spread bulk = spread(pairs, pair -> pair.bulk().gbps());
    long errors =
        pairs.stream()
            .mapToLong(p -> p.alone().errors() + p.withBulk().errors() + p.bulk().errors())
            .sum();
    page.line(
        String.format(
            Locale.ROOT,
            "%-16s %10s %10s %12s %12s %10.2f %10.3f %4d",
            name,
            TransferTable.micros(alone50.median()),
            TransferTable.micros(alone99.median()),
            TransferTable.micros(beside50.median()),
            TransferTable.micros(beside99.median()),
            beside50.median() / alone50.median(),
            bulk.median(),
            errors));
    JsonObject json = new JsonObject();
    json.addProperty("name", name);
    TransferJson.addSpread(json, "alone_p50_us", alone50);
    TransferJson.addSpread(json, "alone_p99_us", alone99);
    TransferJson.addSpread(json, "beside_p50_us", beside50);
    TransferJson.addSpread(json, "beside_p99_us", beside99);
    TransferJson.addSpread(json, "bulk_gbps", bulk);
    json.addProperty("errors", errors);
    return json;
  }

  private interface Figure {
    double of(Pair pair);
  }

  private static Spread spread(List<Pair> pairs, Figure figure) {
    return Spread.of(pairs.stream().mapToDouble(figure::of).toArray());
  }
}
