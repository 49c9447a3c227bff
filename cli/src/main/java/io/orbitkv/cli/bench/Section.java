package io.orbitkv.cli.bench;

import com.google.gson.JsonObject;
import java.util.Locale;

/**
 * What one case found.
 *
 * @param json for machines
 * @param errors operations that failed or brought a wrong byte
 */
record Section(JsonObject json, long errors) {
  /** What two processes use when idle, shares of one core. */
  static String idleLine(String first, double firstShare, String second, double secondShare) {
    return String.format(
        Locale.ROOT,
        "idle after the run: %s %.1f %%, %s %.1f %% of a core",
        first,
        firstShare * 100,
        second,
        secondShare * 100);
  }

  static JsonObject idleJson(String first, double firstShare, String second, double secondShare) {
    JsonObject json = new JsonObject();
    json.addProperty(first, firstShare);
    json.addProperty(second, secondShare);
    return json;
  }
}
