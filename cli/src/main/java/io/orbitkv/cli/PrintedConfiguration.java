package io.orbitkv.cli;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.orbitkv.manager.config.SettingValue;
import io.orbitkv.manager.config.SettingValues;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/** Prints every value and where it came from. */
final class PrintedConfiguration {
  private PrintedConfiguration() {}

  static void print(SettingValues values, boolean json, PrintWriter out) {
    if (json) {
      out.println(json(values.all()));
    } else {
      table(values.all(), out);
    }
    out.flush();
  }

  private static String json(List<SettingValue> values) {
    JsonArray settings = new JsonArray();
    for (SettingValue value : values) {
      JsonObject setting = new JsonObject();
      setting.addProperty("name", value.name());
      setting.addProperty("value", value.text());
      setting.addProperty("origin", value.origin().name().toLowerCase(Locale.ROOT));
      setting.addProperty("place", value.place());
      settings.add(setting);
    }
    JsonObject all = new JsonObject();
    all.add("settings", settings);
    return new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create().toJson(all);
  }

  private static void table(List<SettingValue> values, PrintWriter out) {
    int names = width(values.stream().map(SettingValue::name).toList());
    int texts = Math.min(40, width(values.stream().map(SettingValue::text).toList()));
    for (SettingValue value : values) {
      String text = value.text().isEmpty() ? "-" : value.text();
      out.println(
          String.format(
              Locale.ROOT,
              "%-" + names + "s  %-" + texts + "s  %s",
              value.name(),
              text,
              value.placeOrDefault()));
    }
  }

  private static int width(List<String> texts) {
    return Math.max(1, texts.stream().mapToInt(String::length).max().orElse(1));
  }
}
