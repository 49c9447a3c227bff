package io.orbitkv.manager.config;

import io.orbitkv.adapter.ChannelConfig;
import io.orbitkv.api.TransportException;
import java.nio.file.Path;
import java.util.Map;

/** The settings that an isolated domain decides: nothing else may say otherwise. */
final class DomainSettings {
  private DomainSettings() {}

  /**
   * Puts them in, if the environment names a domain.
   *
   * @throws ConfigurationException if its file is wrong, or another place says otherwise
   */
  static void apply(Map<String, SettingValue> given, Map<String, String> environment) {
    String name = environment.getOrDefault(ChannelConfig.VARIABLE, "");
    if (name.isEmpty()) {
      return;
    }
    ChannelConfig domain = read(name);
    put(given, Settings.SOCKET, domain.socket(), domain);
    domain
        .registryDirectory()
        .ifPresent(folder -> put(given, Settings.REGISTRY_DIRECTORY, folder, domain));
  }

  // A process reads the file of its own environment once.
  private static ChannelConfig read(String name) {
    try {
      return name.equals(System.getenv(ChannelConfig.VARIABLE))
          ? ChannelConfig.ofProcess().orElseThrow()
          : ChannelConfig.read(name);
    } catch (TransportException e) {
      throw new ConfigurationException(String.valueOf(e.getMessage()), e);
    }
  }

  private static void put(
      Map<String, SettingValue> given, Setting<?> setting, Path path, ChannelConfig domain) {
    String text = path.toString();
    SettingValue other = given.get(setting.name());
    if (other != null && !other.text().equals(text)) {
      throw other.fault(
          "is not "
              + text
              + " of "
              + domain.file()
              + ", the domain of this process; drop it, or unset "
              + ChannelConfig.VARIABLE);
    }
    String place = domain.file().toString();
    given.put(setting.name(), new SettingValue(setting.name(), text, SettingOrigin.FILE, place));
  }
}
