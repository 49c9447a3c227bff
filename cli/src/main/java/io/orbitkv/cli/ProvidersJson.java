package io.orbitkv.cli;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Side;
import io.orbitkv.manager.plugin.BrokenPlugin;
import java.util.Collection;
import java.util.List;
import java.util.Locale;

/** The providers for machines. */
final class ProvidersJson {
  private ProvidersJson() {}

  static String of(List<ProviderSheet> sheets, List<BrokenPlugin> broken) {
    JsonArray providers = new JsonArray();
    sheets.forEach(sheet -> providers.add(provider(sheet)));
    JsonArray plugins = new JsonArray();
    broken.forEach(plugin -> plugins.add(broken(plugin)));
    JsonObject all = new JsonObject();
    all.add("providers", providers);
    all.add("broken_plugins", plugins);
    return new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create().toJson(all);
  }

  private static JsonElement provider(ProviderSheet sheet) {
    JsonObject json = new JsonObject();
    json.addProperty("name", sheet.loaded().name());
    json.addProperty("kind", sheet.kind());
    json.addProperty("version", sheet.loaded().version());
    json.addProperty("spi_version", sheet.loaded().spiVersion().toString());
    json.addProperty("plugin", sheet.loaded().pluginId());
    json.addProperty("path", sheet.loaded().path().toString());
    json.addProperty("usable", sheet.probe().usable());
    json.addProperty("detail", sheet.probe().detail());
    json.addProperty("fix", sheet.probe().fix());
    sheet.capabilities().ifPresent(found -> json.add("capabilities", capabilities(found)));
    JsonArray options = new JsonArray();
    sheet
        .loaded()
        .options()
        .forEach(
            option -> {
              JsonObject entry = new JsonObject();
              entry.addProperty("name", option.name());
              entry.addProperty("value", option.valueLabel());
              entry.addProperty("default", option.defaultValue());
              entry.addProperty("description", option.description());
              options.add(entry);
            });
    json.add("options", options);
    return json;
  }

  private static JsonElement capabilities(Capabilities found) {
    JsonObject evidence = new JsonObject();
    for (Side side : Side.values()) {
      evidence.add(side.name().toLowerCase(Locale.ROOT), names(found.evidence(side)));
    }
    JsonObject json = new JsonObject();
    json.add("memory", names(found.memory()));
    json.add("evidence", evidence);
    json.addProperty("max_read_bytes", found.maxReadBytes());
    json.addProperty("max_descriptors", found.maxDescriptors());
    json.addProperty("cancels", found.cancels());
    json.addProperty("strided", found.strided());
    return json;
  }

  private static JsonElement broken(BrokenPlugin plugin) {
    JsonObject json = new JsonObject();
    json.addProperty("plugin", plugin.id());
    json.addProperty("path", plugin.path().toString());
    json.addProperty("reason", plugin.reason());
    json.addProperty("fix", plugin.fix());
    return json;
  }

  private static JsonArray names(Collection<? extends Enum<?>> values) {
    JsonArray names = new JsonArray();
    values.stream().map(Enum::name).sorted().forEach(names::add);
    return names;
  }
}
