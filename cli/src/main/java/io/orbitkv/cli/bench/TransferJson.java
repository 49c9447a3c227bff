package io.orbitkv.cli.bench;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.orbitkv.bench.Comparison;
import io.orbitkv.bench.Sample;
import io.orbitkv.bench.Spread;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Comparisons as JSON, for machines. */
final class TransferJson {
  private TransferJson() {}

  /** Several. */
  static JsonObject of(List<Comparison> comparisons) {
    JsonObject json = new JsonObject();
    JsonArray rows = new JsonArray();
    comparisons.stream().map(TransferJson::of).forEach(rows::add);
    json.add("rows", rows);
    return json;
  }

  /** One, medians of its rounds. */
  static JsonObject of(Comparison comparison) {
    JsonObject json = new JsonObject();
    json.addProperty("block_bytes", comparison.shape().blockBytes());
    json.addProperty("stride_bytes", comparison.shape().strideBytes());
    json.addProperty("threads", comparison.shape().threads());
    addFigures(json, comparison.own());
    JsonArray baselines = new JsonArray();
    comparison
        .baselines()
        .forEach(
            (name, samples) -> {
              JsonObject baseline = new JsonObject();
              baseline.addProperty("name", name);
              addFigures(baseline, samples);
              baselines.add(baseline);
            });
    json.add("baselines", baselines);
    comparison.best(false).ifPresent(name -> json.add("ratio", ratio(comparison, name)));
    comparison.best(true).ifPresent(name -> json.add("ratio_polling", ratio(comparison, name)));
    return json;
  }

  private static JsonObject ratio(Comparison comparison, String baseline) {
    JsonObject json = new JsonObject();
    json.addProperty("to", baseline);
    json.addProperty("gbps", Ratios.rate(comparison, baseline));
    json.addProperty("p50", Ratios.p50(comparison, baseline));
    json.addProperty("p99", Ratios.p99(comparison, baseline));
    json.addProperty("cpu_s_per_gb", Ratios.cpu(comparison, baseline));
    return json;
  }

  /** A figure with its extremes. */
  static void addSpread(JsonObject json, String name, Spread spread) {
    json.addProperty(name, spread.median());
    json.addProperty(name + "_min", spread.min());
    json.addProperty(name + "_max", spread.max());
  }

  private static void addFigures(JsonObject json, List<Sample> samples) {
    Spread gbps = Comparison.gbps(samples);
    json.addProperty("batch", samples.getFirst().batch());
    addSpread(json, "gbps", gbps);
    JsonArray rounds = new JsonArray();
    samples.forEach(sample -> rounds.add(sample.gbps()));
    json.add("gbps_rounds", rounds);
    addTimes(json, "", samples, Sample::whole);
    addTimes(json, "prepare_", samples, Sample::prepare);
    addTimes(json, "post_", samples, Sample::post);
    addTimes(json, "transfer_", samples, Sample::transfer);
    addTimes(json, "receipt_", samples, Sample::receipt);
    json.addProperty("cpu_s_per_gb", Spread.of(samples, Sample::cpuSecondsPerGb).median());
    json.addProperty("cpu_owner_share", Spread.of(samples, Sample::ownerShare).median());
    json.addProperty("operations", samples.stream().mapToLong(Sample::operations).sum());
    json.addProperty("errors", samples.stream().mapToLong(Sample::errors).sum());
    json.addProperty("rounds", samples.size());
    if (!samples.getLast().congestion().isEmpty()) {
      json.addProperty("congestion", samples.getLast().congestion());
    }
    samples.stream()
        .map(Sample::failure)
        .filter(failure -> !failure.isEmpty())
        .findFirst()
        .ifPresent(failure -> json.addProperty("failure", failure));
  }

  private interface Part {
    Sample.Times of(Sample sample);
  }

  private static void addTimes(JsonObject json, String prefix, List<Sample> samples, Part part) {
    Spread mean = Spread.of(samples, sample -> part.of(sample).mean());
    if (mean.max() == 0) {
      return;
    }
    json.addProperty(prefix + "avg_us", mean.median());
    json.addProperty(prefix + "p50_us", median(samples, sample -> part.of(sample).p50()));
    json.addProperty(prefix + "p99_us", median(samples, sample -> part.of(sample).p99()));
    json.addProperty(prefix + "p999_us", median(samples, sample -> part.of(sample).p999()));
  }

  private static double median(List<Sample> samples, ToDoubleFunction<Sample> figure) {
    return Spread.of(samples, figure).median();
  }
}
