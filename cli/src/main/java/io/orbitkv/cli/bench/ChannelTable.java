package io.orbitkv.cli.bench;

import io.orbitkv.bench.Spread;
import io.orbitkv.bench.channel.ChannelClient;
import io.orbitkv.bench.channel.ChannelRow;
import java.util.List;
import java.util.Locale;

/**
 * Round trips as a table: medians of the rounds, and how many times the C baseline's each takes.
 */
final class ChannelTable {
  private static final String ROW = "%-16s %-10s %9s %9s %15s %9s %9s %8s %7s";

  private ChannelTable() {}

  static String head() {
    return ROW.formatted(
        "client",
        "placement",
        "pace us",
        "p50 us",
        "min..max",
        "p99 us",
        "p99.9 us",
        "p50 /C",
        "idle %");
  }

  static String row(ChannelRow row, List<ChannelRow> all) {
    Spread p50 = row.p50();
    return ROW.formatted(
        row.client(),
        row.placement(),
        row.paceMicros() == 0 ? "0" : Integer.toString(row.paceMicros()),
        TransferTable.micros(p50.median()),
        TransferTable.micros(p50.min()) + ".." + TransferTable.micros(p50.max()),
        TransferTable.micros(row.p99().median()),
        TransferTable.micros(row.p999().median()),
        ratio(row, all),
        String.format(Locale.ROOT, "%.2f", row.idlePercent()));
  }

  private static String ratio(ChannelRow row, List<ChannelRow> all) {
    return all.stream()
        .filter(other -> other.client() == ChannelClient.C_EVENTFD)
        .filter(other -> other.placement() == row.placement())
        .filter(other -> other.paceMicros() == row.paceMicros())
        .findFirst()
        .map(c -> String.format(Locale.ROOT, "%.2f", row.p50().median() / c.p50().median()))
        .orElse("-");
  }
}
