package io.orbitkv.cli.output;

import java.util.ArrayList;
import java.util.List;

/** Two columns of text, the first padded to the longest label. Not thread-safe. */
public final class TextTable {
  private static final int MIN_VALUE = 20;

  private record Row(String label, String value) {}

  private final List<Row> rows = new ArrayList<>();

  /** Adds a row. Line ends and other control characters in it become blanks. */
  public TextTable row(String label, String value) {
    rows.add(new Row(plain(label), plain(value)));
    return this;
  }

  /** The rows, one a line, with a line end behind each. */
  public String render() {
    return render(Terminal.columns(Integer.MAX_VALUE));
  }

  /** The same, wrapped to so many columns at most where a value can be broken at a blank. */
  String render(int columns) {
    int width = rows.stream().mapToInt(row -> row.label.length()).max().orElse(0);
    StringBuilder text = new StringBuilder();
    for (Row row : rows) {
      String label = row.label + " ".repeat(width - row.label.length() + 2);
      for (String part : wrapped(row.value, Math.max(MIN_VALUE, columns - label.length()))) {
        text.append((label + part).stripTrailing()).append('\n');
        label = " ".repeat(label.length());
      }
    }
    return text.toString();
  }

  private static List<String> wrapped(String value, int columns) {
    List<String> parts = new ArrayList<>();
    String rest = value;
    while (rest.length() > columns) {
      int blank = rest.lastIndexOf(' ', columns);
      if (blank <= 0) {
        blank = rest.indexOf(' ', columns);
      }
      if (blank < 0) {
        break;
      }
      parts.add(rest.substring(0, blank));
      rest = rest.substring(blank + 1);
    }
    parts.add(rest);
    return parts;
  }

  // A peer's name must not be able to move the cursor of whoever reads the table.
  private static String plain(String text) {
    return text.replaceAll("\\p{Cntrl}", " ");
  }
}
