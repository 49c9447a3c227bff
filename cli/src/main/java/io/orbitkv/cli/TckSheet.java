package io.orbitkv.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.orbitkv.api.spi.SpiVersion;
import io.orbitkv.cli.output.TextTable;
import io.orbitkv.cli.output.Units;
import io.orbitkv.tck.TckReport;
import io.orbitkv.tck.TckRow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The report of a run of the kit, for people and for machines. */
final class TckSheet {
  private static final Gson GSON =
      new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

  private TckSheet() {}

  /** One JSON object: the counts, what was skipped and why, and a row for each test. */
  static String json(TckReport report) {
    JsonObject object = new JsonObject();
    object.addProperty("provider", report.provider());
    object.addProperty("provider_version", report.providerVersion());
    object.addProperty("spi_version", report.spiVersion().toString());
    object.addProperty("kit_version", SpiVersion.CURRENT.toString());
    object.addProperty("passed", report.count(TckRow.Result.PASSED));
    object.addProperty("failed", report.count(TckRow.Result.FAILED));
    object.add("skipped", rows(report.rows(TckRow.Result.SKIPPED)));
    object.add("tests", rows(report.rows()));
    return GSON.toJson(object);
  }

  private static JsonArray rows(List<TckRow> rows) {
    JsonArray array = new JsonArray();
    for (TckRow row : rows) {
      JsonObject object = new JsonObject();
      object.addProperty("suite", row.suite());
      object.addProperty("test", row.test());
      object.addProperty("result", row.result().name().toLowerCase(Locale.ROOT));
      if (!row.reason().isEmpty()) {
        object.addProperty("reason", row.reason());
      }
      object.addProperty("nanos", row.nanos());
      array.add(object);
    }
    return array;
  }

  /** A line for each suite, then what failed and what was declined, then the sum. */
  static String table(TckReport report) {
    TextTable table = new TextTable();
    table.row(
        "provider",
        report.provider()
            + " "
            + report.providerVersion()
            + ", built for SPI "
            + report.spiVersion()
            + ", kit "
            + SpiVersion.CURRENT);
    bySuite(report).forEach((suite, rows) -> table.row(suite, counts(rows)));
    table.row("sum", counts(report.rows()));
    StringBuilder text = new StringBuilder(table.render());
    list(text, "Failed:", report.rows(TckRow.Result.FAILED));
    list(text, "Declined:", report.rows(TckRow.Result.SKIPPED));
    return text.toString();
  }

  private static Map<String, List<TckRow>> bySuite(TckReport report) {
    Map<String, List<TckRow>> suites = new LinkedHashMap<>();
    for (TckRow row : report.rows()) {
      suites.computeIfAbsent(row.suite(), _ -> new ArrayList<>()).add(row);
    }
    return suites;
  }

  private static String counts(List<TckRow> rows) {
    return String.format(
        Locale.ROOT,
        "%3d passed  %3d failed  %3d declined  %8s",
        count(rows, TckRow.Result.PASSED),
        count(rows, TckRow.Result.FAILED),
        count(rows, TckRow.Result.SKIPPED),
        Units.nanos(rows.stream().mapToLong(TckRow::nanos).sum()));
  }

  private static long count(List<TckRow> rows, TckRow.Result result) {
    return rows.stream().filter(row -> row.result() == result).count();
  }

  private static void list(StringBuilder text, String head, List<TckRow> rows) {
    if (rows.isEmpty()) {
      return;
    }
    text.append('\n').append(head).append('\n');
    TextTable table = new TextTable();
    rows.forEach(row -> table.row("  " + row.suite() + "." + row.test(), row.reason()));
    text.append(table.render());
  }
}
