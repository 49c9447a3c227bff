package io.orbitkv.cli;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Side;
import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.cli.output.Terminal;
import io.orbitkv.manager.plugin.BrokenPlugin;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Help.TextTable;

/** The providers for people, within the columns of the terminal, else 100. */
final class ProvidersTable {
  private static final int LABELS = 14;

  private final TextTable table;

  private ProvidersTable() {
    this.table =
        TextTable.forColumns(
            Help.defaultColorScheme(Ansi.OFF),
            new Column(LABELS, 0, Overflow.WRAP),
            new Column(Terminal.columns(100) - 1 - LABELS, 0, Overflow.WRAP));
  }

  static String of(List<ProviderSheet> sheets, List<BrokenPlugin> broken) {
    StringBuilder text = new StringBuilder();
    sheets.forEach(sheet -> text.append(new ProvidersTable().provider(sheet)).append('\n'));
    if (!broken.isEmpty()) {
      text.append("Plugins that can not be used:\n");
      broken.forEach(plugin -> text.append(new ProvidersTable().broken(plugin)));
    }
    return text.toString();
  }

  private String provider(ProviderSheet sheet) {
    row("provider", sheet.loaded().name() + " " + sheet.loaded().version() + ", " + sheet.kind());
    row(
        "works here",
        (sheet.probe().usable() ? "yes: " : "no: ")
            + sheet.probe().detail()
            + (sheet.probe().fix().isEmpty() ? "" : "; " + sheet.probe().fix()));
    sheet.capabilities().ifPresent(this::capabilities);
    row("SPI version", sheet.loaded().spiVersion().toString());
    row("plugin", sheet.loaded().path().toString());
    String label = "options";
    for (OptionSpec option : sheet.loaded().options()) {
      String byDefault =
          option.defaultValue().isEmpty() ? "" : " (default: " + option.defaultValue() + ")";
      row(
          label,
          "--"
              + option.name()
              + " "
              + option.valueLabel()
              + ": "
              + option.description()
              + byDefault);
      label = "";
    }
    return table.toString();
  }

  private void capabilities(Capabilities found) {
    row("memory", names(found.memory()));
    for (Side side : Side.values()) {
      row(side.name().toLowerCase(Locale.ROOT), "evidence: " + names(found.evidence(side)));
    }
    row(
        "one READ",
        found.maxReadBytes()
            + " bytes in "
            + found.maxDescriptors()
            + " pieces at most; "
            + (found.cancels() ? "can be cancelled" : "can not be cancelled")
            + (found.strided() ? "; takes strided pieces" : "; splits strided pieces"));
  }

  private String broken(BrokenPlugin plugin) {
    row("  " + plugin.id(), plugin.path().toString());
    row("", plugin.reason());
    row("", plugin.fix());
    return table.toString();
  }

  private void row(String label, String text) {
    // A percent sign or a marker of picocli in the text stays what it is.
    table.addRowValues(Ansi.OFF.new Text(label, null), Ansi.OFF.new Text(text, null));
  }

  private static String names(Collection<? extends Enum<?>> values) {
    return values.isEmpty()
        ? "none"
        : values.stream().map(Enum::name).sorted().collect(Collectors.joining(", "));
  }
}
