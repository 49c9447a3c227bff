package io.orbitkv.bench.channel;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;

/**
 * What one measurement found.
 *
 * @param operations round trips
 * @param p50 microseconds
 * @param p99 microseconds
 * @param p999 microseconds
 */
public record RoundTrips(long operations, double p50, double p99, double p999) {
  /**
   * As a client prints it.
   *
   * @throws IllegalArgumentException if it is something else
   */
  static RoundTrips parse(String line) {
    try {
      if (JsonParser.parseString(line) instanceof JsonObject found) {
        return new RoundTrips(
            (long) number(found, "operations"),
            number(found, "p50_us"),
            number(found, "p99_us"),
            number(found, "p999_us"));
      }
    } catch (JsonParseException e) {
      throw new IllegalArgumentException("no result: " + line, e);
    }
    throw new IllegalArgumentException("no result: " + line);
  }

  private static double number(JsonObject found, String name) {
    if (!found.has(name)) {
      throw new IllegalArgumentException("a result without " + name + ": " + found);
    }
    return found.get(name).getAsDouble();
  }

  /** As {@link #parse} takes it. */
  String line() {
    JsonObject found = new JsonObject();
    found.addProperty("operations", operations);
    found.addProperty("p50_us", p50);
    found.addProperty("p99_us", p99);
    found.addProperty("p999_us", p999);
    return found.toString();
  }
}
