package io.orbitkv.manager.config;

import java.util.function.Function;

/**
 * One setting of a Manager: a flag, an environment variable and a key of the file.
 *
 * @param <T> what its text means
 * @param name as in {@code pool-bytes}
 * @param valueLabel what the value is, for help, as in {@code SIZE}
 * @param description one line, with the unit
 * @param defaultLabel the default, for help
 * @param defaultText the default, which may follow from other values
 * @param separator between the values of a list; 0 if it takes one value
 * @param parser reads the text; throws an {@link IllegalArgumentException} that says the cause and
 *     the fix, to follow the quoted text in one sentence
 */
public record Setting<T>(
    String name,
    String valueLabel,
    String description,
    String defaultLabel,
    Function<SettingValues, String> defaultText,
    char separator,
    Function<String, T> parser) {
  static <T> Setting<T> of(
      String name,
      String valueLabel,
      String defaultText,
      Function<String, T> parser,
      String description) {
    return new Setting<>(
        name, valueLabel, description, defaultText, values -> defaultText, '\0', parser);
  }

  /** The same with a default that follows from other values. */
  Setting<T> defaultsTo(String label, Function<SettingValues, String> text) {
    return new Setting<>(name, valueLabel, description, label, text, separator, parser);
  }

  /** The same as a list. */
  Setting<T> listedBy(char comma) {
    return new Setting<>(name, valueLabel, description, defaultLabel, defaultText, comma, parser);
  }

  /** The environment variable that sets it. */
  public String environmentName() {
    return SettingValue.environmentName(name);
  }

  /** Whether it takes several values. */
  public boolean isList() {
    return separator != '\0';
  }
}
