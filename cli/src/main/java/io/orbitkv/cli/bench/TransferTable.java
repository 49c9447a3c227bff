package io.orbitkv.cli.bench;

import io.orbitkv.bench.Comparison;
import io.orbitkv.bench.LoopShape;
import io.orbitkv.bench.Sample;
import io.orbitkv.bench.Spread;
import io.orbitkv.cli.output.Units;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Comparisons as a table, with the columns of the field in its order, then those of ours. */
final class TransferTable {
  private static final String ROW =
      "%9s %6s %3s %8s %9s %13s %13s %16s %9s %14s %9s %4s %6s %6s  %s";

  private TransferTable() {}

  static String head() {
    return ROW.formatted(
        "block",
        "batch",
        "thr",
        "GB/s",
        "avg us",
        "prep avg/p99",
        "post avg/p99",
        "tx avg/p99",
        "p99.9 us",
        "receipt av/p99",
        "cpu s/GB",
        "err",
        "/base",
        "/poll",
        "baseline: GB/s, p50, p99 us, cpu s/GB");
  }

  /** One row; medians of its rounds. */
  static String row(Comparison comparison) {
    List<Sample> own = comparison.own();
    return String.format(
        Locale.ROOT,
        ROW,
        block(comparison.shape()),
        batch(comparison),
        comparison.shape().threads(),
        String.format(Locale.ROOT, "%.3f", comparison.gbps().median()),
        micros(median(own, sample -> sample.whole().mean())),
        pair(own, Sample::prepare),
        pair(own, Sample::post),
        pair(own, Sample::transfer),
        micros(median(own, sample -> sample.whole().p999())),
        pair(own, Sample::receipt),
        String.format(Locale.ROOT, "%.3f", median(own, Sample::cpuSecondsPerGb)),
        comparison.errors(),
        ratio(comparison, false),
        ratio(comparison, true),
        comparison.best(false).map(name -> baseline(name, comparison.samples(name))).orElse("-"));
  }

  static String block(LoopShape shape) {
    return Units.bytes(shape.blockBytes()).replaceAll("\\.0+(?=\\D)| ", "");
  }

  /** Blocks in an operation; "s" behind it if they are strided. */
  static String batch(Comparison comparison) {
    return comparison.own().getFirst().batch() + (comparison.shape().strided() ? "s" : "");
  }

  private static String baseline(String name, List<Sample> samples) {
    return String.format(
        Locale.ROOT,
        "%s: %.3f, %s, %s, %.3f",
        name,
        Comparison.gbps(samples).median(),
        micros(median(samples, sample -> sample.whole().p50())),
        micros(median(samples, sample -> sample.whole().p99())),
        median(samples, Sample::cpuSecondsPerGb));
  }

  private static String ratio(Comparison comparison, boolean polling) {
    return comparison
        .best(polling)
        .map(name -> String.format(Locale.ROOT, "%.2f", comparison.rateRatio(name)))
        .orElse("-");
  }

  private static String pair(List<Sample> samples, Function<Sample, Sample.Times> part) {
    return micros(median(samples, sample -> part.apply(sample).mean()))
        + "/"
        + micros(median(samples, sample -> part.apply(sample).p99()));
  }

  static double median(List<Sample> samples, ToDoubleFunction<Sample> figure) {
    return Spread.of(samples, figure).median();
  }

  static String micros(double micros) {
    return String.format(
        Locale.ROOT, micros < 9.95 ? "%.2f" : micros < 99.5 ? "%.1f" : "%.0f", micros);
  }
}
