package io.orbitkv.manager.plugin;

import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.Provider;
import io.orbitkv.api.spi.SpiVersion;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks what a provider calls itself and its options, and keeps both unique. */
final class ProviderNames {
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*");

  private final Map<String, LoadedProvider> names = new HashMap<>();
  private final Map<String, LoadedProvider> options = new HashMap<>();

  static void checkVersion(Provider provider) throws PluginFault {
    SpiVersion version = provider.spiVersion();
    if (!SpiVersion.CURRENT.supports(version)) {
      throw new PluginFault(
          "its provider "
              + provider.name()
              + " was built for SPI version "
              + version
              + ", and this is "
              + SpiVersion.CURRENT,
          "install the plugin that was made for this version of OrbitKV");
    }
  }

  static void checkForm(LoadedProvider provider) throws PluginFault {
    if (!NAME.matcher(provider.name()).matches()) {
      throw new PluginFault(
          "its provider's name '" + provider.name() + "' is malformed",
          "use lower case letters and digits with single '-' between, a letter first");
    }
    for (OptionSpec option : provider.options()) {
      if (!option.name().startsWith(provider.name() + "-")
          || !NAME.matcher(option.name()).matches()) {
        throw new PluginFault(
            "option '" + option.name() + "' of its provider " + provider.name() + " is malformed",
            "name it " + provider.name() + "-SOMETHING, in lower case");
      }
    }
  }

  /** Takes all names of a plugin, or none. */
  void add(List<LoadedProvider> providers) throws PluginFault {
    Map<String, LoadedProvider> newNames = new HashMap<>(names);
    Map<String, LoadedProvider> newOptions = new HashMap<>(options);
    for (LoadedProvider provider : providers) {
      refuseSecond("provider", provider.name(), newNames.put(provider.name(), provider));
      for (OptionSpec option : provider.options()) {
        refuseSecond("option", option.name(), newOptions.put(option.name(), provider));
      }
    }
    names.putAll(newNames);
    options.putAll(newOptions);
  }

  private static void refuseSecond(String what, String name, @Nullable LoadedProvider first)
      throws PluginFault {
    if (first != null) {
      throw new PluginFault(
          what + " " + name + " is already that of the plugin at " + first.path(),
          "remove one of the two plugins");
    }
  }
}
