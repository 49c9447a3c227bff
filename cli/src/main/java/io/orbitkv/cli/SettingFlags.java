package io.orbitkv.cli;

import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.manager.config.Setting;
import io.orbitkv.manager.config.SettingValues;
import io.orbitkv.manager.config.Settings;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/** Settings and the options of providers as flags of a command. */
final class SettingFlags {
  private static final String CONFIG_FLAG = "--" + SettingValues.CONFIG;

  private SettingFlags() {}

  /** The flag that names the file. */
  static void addConfig(CommandSpec command) {
    command.addOption(
        Model.OptionSpec.builder(CONFIG_FLAG)
            .paramLabel("FILE")
            .type(String.class)
            .description("file with settings, one 'name=value' a line; or ORBITKV_CONFIG")
            .build());
  }

  /** A flag of a setting. */
  static void add(CommandSpec command, Setting<?> setting) {
    Model.OptionSpec.Builder flag =
        Model.OptionSpec.builder("--" + setting.name())
            .paramLabel(setting.valueLabel())
            .description(described(setting.description(), setting.defaultLabel()));
    if (setting.isList()) {
      String more = "; repeatable, or a list with '" + setting.separator() + "'";
      flag.type(List.class)
          .auxiliaryTypes(String.class)
          .description(described(setting.description() + more, setting.defaultLabel()));
    } else {
      flag.type(String.class);
    }
    command.addOption(flag.build());
  }

  /** A flag of a provider's option. */
  static void add(CommandSpec command, OptionSpec option) {
    command.addOption(
        Model.OptionSpec.builder("--" + option.name())
            .paramLabel(option.valueLabel())
            .type(String.class)
            .description(described(option.description(), option.defaultValue()))
            .build());
  }

  /** What was said by flags: by name without dashes, lists joined by their separator. */
  static Map<String, String> given(ParseResult parsed) {
    Map<String, String> flags = new LinkedHashMap<>();
    for (Model.OptionSpec option : parsed.matchedOptions()) {
      String name = option.longestName().substring(2);
      Object value = option.getValue();
      if (value instanceof String text) {
        flags.put(name, text);
      } else if (value instanceof List<?> list) {
        flags.put(name, String.join(separator(name), list.stream().map(String::valueOf).toList()));
      }
    }
    return flags;
  }

  private static String separator(String name) {
    return Settings.ALL.stream()
        .filter(setting -> setting.name().equals(name))
        .map(setting -> String.valueOf(setting.separator()))
        .findFirst()
        .orElse(",");
  }

  private static String described(String description, String defaultLabel) {
    String text = description + (defaultLabel.isEmpty() ? "" : " (default: " + defaultLabel + ")");
    // Picocli formats descriptions, and a provider's may hold anything.
    return text.replace("%", "%%").replace("@|", "@ |");
  }
}
