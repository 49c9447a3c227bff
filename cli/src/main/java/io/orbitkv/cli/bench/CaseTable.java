package io.orbitkv.cli.bench;

import io.orbitkv.bench.Comparison;
import io.orbitkv.bench.Sample;
import io.orbitkv.bench.Spread;
import java.util.List;
import java.util.Locale;

/** The rows of a case: the provider, the best way of the baseline, and the ratios of the two. */
final class CaseTable {
  private static final String ROW =
      "%9s %6s %3s %8s %13s %9s %9s %9s %4s   %-14s %8s %13s %9s %9s %9s   %5s %5s %5s %5s  %5s %5s";

  private CaseTable() {}

  static String head() {
    return ROW.formatted(
        "block",
        "batch",
        "thr",
        "GB/s",
        "min..max",
        "p50 us",
        "p99 us",
        "cpu s/GB",
        "err",
        "baseline",
        "GB/s",
        "min..max",
        "p50 us",
        "p99 us",
        "cpu s/GB",
        "GB/s",
        "p50",
        "p99",
        "cpu",
        "/poll",
        "p50");
  }

  static String row(Comparison comparison) {
    List<Sample> own = comparison.own();
    String best = comparison.best(false).orElse("");
    List<Sample> other = comparison.samples(best);
    Spread gbps = comparison.gbps();
    return String.format(
        Locale.ROOT,
        ROW,
        TransferTable.block(comparison.shape()),
        TransferTable.batch(comparison),
        comparison.shape().threads(),
        number(gbps.median()),
        range(gbps),
        TransferTable.micros(TransferTable.median(own, sample -> sample.whole().p50())),
        TransferTable.micros(TransferTable.median(own, sample -> sample.whole().p99())),
        number(TransferTable.median(own, Sample::cpuSecondsPerGb)),
        comparison.errors(),
        best.isEmpty() ? "-" : best,
        best.isEmpty() ? "-" : number(Comparison.gbps(other).median()),
        best.isEmpty() ? "-" : range(Comparison.gbps(other)),
        best.isEmpty()
            ? "-"
            : TransferTable.micros(TransferTable.median(other, sample -> sample.whole().p50())),
        best.isEmpty()
            ? "-"
            : TransferTable.micros(TransferTable.median(other, sample -> sample.whole().p99())),
        best.isEmpty() ? "-" : number(TransferTable.median(other, Sample::cpuSecondsPerGb)),
        ratio(comparison, false, Ratios::rate),
        ratio(comparison, false, Ratios::p50),
        ratio(comparison, false, Ratios::p99),
        ratio(comparison, false, Ratios::cpu),
        ratio(comparison, true, Ratios::rate),
        ratio(comparison, true, Ratios::p50));
  }

  private static String ratio(Comparison comparison, boolean polling, Ratios.Ratio ratio) {
    return comparison
        .best(polling)
        .map(name -> String.format(Locale.ROOT, "%.2f", ratio.of(comparison, name)))
        .orElse("-");
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.3f", value);
  }

  private static String range(Spread spread) {
    return String.format(Locale.ROOT, "%.2f..%.2f", spread.min(), spread.max());
  }
}
