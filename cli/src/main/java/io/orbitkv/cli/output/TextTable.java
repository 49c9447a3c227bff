package io.orbitkv.cli.output;

import java.util.ArrayList;
import java.util.List;

/** Two columns of text, the first padded to the longest label. Not thread-safe. */
public final class TextTable {
  private record Row(String label, String value) {}

  private final List<Row> rows = new ArrayList<>();

  /** Adds a row. Line ends and other control characters in it become blanks. */
  public TextTable row(String label, String value) {
    rows.add(new Row(plain(label), plain(value)));
    return this;
  }

  /** The rows, one a line, with a line end behind each. */
  public String render() {
    int width = rows.stream().mapToInt(row -> row.label.length()).max().orElse(0);
    StringBuilder text = new StringBuilder();
    for (Row row : rows) {
      String line = row.label + " ".repeat(width - row.label.length() + 2) + row.value;
      text.append(line.stripTrailing()).append('\n');
    }
    return text.toString();
  }

  // A peer's name must not be able to move the cursor of whoever reads the table.
  private static String plain(String text) {
    return text.replaceAll("\\p{Cntrl}", " ");
  }
}
