package io.orbitkv.manager.config;

import io.orbitkv.api.spi.Provider;
import java.util.Locale;

/**
 * A setting's value as text, and where it came from.
 *
 * @param name the setting, as in {@code pool-bytes}
 * @param text the value, not checked
 * @param origin what kind of place it came from
 * @param place the very place: {@code --pool-bytes}, {@code ORBITKV_POOL_BYTES}, {@code
 *     orbitkv.properties:3}; empty for a default
 */
public record SettingValue(String name, String text, SettingOrigin origin, String place) {
  /** Of every environment variable. */
  static final String PREFIX = "ORBITKV_";

  /** The environment variable of a setting or of an option of a {@link Provider}. */
  public static String environmentName(String name) {
    return PREFIX + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  static SettingValue flag(String name, String text) {
    return new SettingValue(name, text, SettingOrigin.FLAG, "--" + name);
  }

  static SettingValue environment(String name, String text) {
    return new SettingValue(name, text, SettingOrigin.ENVIRONMENT, environmentName(name));
  }

  static SettingValue ofDefault(String name, String text) {
    return new SettingValue(name, text, SettingOrigin.DEFAULT, "");
  }

  /** Whether somebody gave it. */
  public boolean isGiven() {
    return origin != SettingOrigin.DEFAULT;
  }

  /** The place, for people: that of a default is the word. */
  public String placeOrDefault() {
    return isGiven() ? place : "default";
  }

  /** What a fault of this value begins with, as in {@code pool-bytes (--pool-bytes)}. */
  String label() {
    return origin == SettingOrigin.FLAG ? place : name + " (" + placeOrDefault() + ")";
  }

  /** The fault of this value: its label and the value, then the cause and the fix. */
  ConfigurationException fault(String causeAndFix) {
    return new ConfigurationException(label() + ": '" + text + "' " + causeAndFix);
  }
}
