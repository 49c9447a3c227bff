package io.orbitkv.cli.replay;

import com.google.gson.JsonObject;
import io.orbitkv.cli.output.Units;
import org.HdrHistogram.Histogram;

/**
 * How long requests took, nanoseconds; zeros if there was none.
 *
 * @param requests how many were measured
 */
public record Latency(long requests, long p50, long p99, long max) {
  static Latency of(Histogram nanos) {
    return new Latency(
        nanos.getTotalCount(),
        nanos.getValueAtPercentile(50),
        nanos.getValueAtPercentile(99),
        nanos.getMaxValue());
  }

  JsonObject toJson() {
    JsonObject json = new JsonObject();
    json.addProperty("p50", p50 / 1e6);
    json.addProperty("p99", p99 / 1e6);
    json.addProperty("max", max / 1e6);
    return json;
  }

  String text() {
    return requests == 0
        ? "-"
        : "p50 %s, p99 %s, max %s".formatted(Units.nanos(p50), Units.nanos(p99), Units.nanos(max));
  }
}
