package io.orbitkv.cli.bench;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.orbitkv.bench.channel.ChannelRow;
import java.util.List;

/** Round trips as JSON, for machines: one object a row. */
final class ChannelJson {
  private ChannelJson() {}

  static JsonArray of(List<ChannelRow> rows) {
    JsonArray json = new JsonArray();
    rows.stream().map(ChannelJson::of).forEach(json::add);
    return json;
  }

  private static JsonObject of(ChannelRow row) {
    JsonObject json = new JsonObject();
    json.addProperty("client", row.client().toString());
    json.addProperty("placement", row.placement().toString());
    json.addProperty("pace_us", row.paceMicros());
    json.addProperty("p50_us", row.p50().median());
    json.addProperty("p99_us", row.p99().median());
    json.addProperty("p999_us", row.p999().median());
    json.addProperty("idle_cpu_percent", row.idlePercent());
    return json;
  }
}
