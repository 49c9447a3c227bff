package io.orbitkv.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import io.orbitkv.cli.output.TextTable;
import io.orbitkv.cli.output.Units;

/**
 * A Manager's status for people: one line a value, nested names joined by dots, so that a field
 * which is new in the Manager shows by itself. Bytes and nanoseconds are recognised by their names
 * and get units.
 */
final class StatusText {
  private static final String HOLDS = "holds";

  private final TextTable table = new TextTable();
  private final boolean holds;

  private StatusText(boolean holds) {
    this.holds = holds;
  }

  /**
   * Renders a status.
   *
   * @param holds whether lists of single holds are shown, or only how long they are
   */
  static String of(String status, boolean holds) {
    StatusText text = new StatusText(holds);
    text.add("", "", JsonParser.parseString(status));
    return text.table.render();
  }

  private void add(String path, String name, JsonElement value) {
    switch (value) {
      case JsonObject object when !object.isEmpty() ->
          object
              .asMap()
              .forEach((key, member) -> add(path.isEmpty() ? key : path + "." + key, key, member));
      case JsonArray array when name.equals(HOLDS) && !holds ->
          table.row(path, array.size() + (array.isEmpty() ? "" : " (--holds lists them)"));
      case JsonArray array when !array.isEmpty() -> {
        for (int i = 0; i < array.size(); i++) {
          add(path + "[" + i + "]", name, array.get(i));
        }
      }
      case JsonPrimitive primitive -> table.row(path, text(name, primitive));
      default -> table.row(path, "-");
    }
  }

  private static String text(String name, JsonPrimitive value) {
    if (!value.isNumber()) {
      return value.getAsString();
    }
    if (!value.getAsString().matches("-?\\d{1,18}")) {
      return value.getAsString();
    }
    long number = value.getAsLong();
    if (name.equals("bytes") || name.endsWith("_bytes")) {
      return Units.bytes(number) + (number < 1024 ? "" : " (" + number + ")");
    }
    if (name.equals("nanos") || name.endsWith("_nanos")) {
      return Units.nanos(number);
    }
    return value.getAsString();
  }
}
