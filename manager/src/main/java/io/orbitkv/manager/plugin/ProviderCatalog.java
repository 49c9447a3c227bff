package io.orbitkv.manager.plugin;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.OptionSpec;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The providers that this installation has, and the plugins in which something is wrong. A service:
 * owned by who loaded it, thread-safe, ended by {@link #close()}.
 */
public final class ProviderCatalog implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ProviderCatalog.class);

  private final List<LoadedPlugin> plugins = new ArrayList<>();
  private final List<BrokenPlugin> broken = new ArrayList<>();

  private ProviderCatalog() {}

  /**
   * Loads every plugin of some folders, one at a time: one that is broken hides no other.
   *
   * @param folders folders of plugins, or plugins; the first plugin to take a name keeps it
   * @return the catalog, owned by the caller; throws nothing, whatever the folders hold
   */
  public static ProviderCatalog load(List<Path> folders) {
    ProviderCatalog catalog = new ProviderCatalog();
    ProviderNames names = new ProviderNames();
    for (Path folder : folders) {
      for (Path path : PluginFolder.plugins(folder, catalog.broken::add)) {
        LoadedPlugin.load(path, names, catalog.broken::add).ifPresent(catalog.plugins::add);
      }
    }
    catalog.broken.forEach(plugin -> LOG.debug("{}", plugin));
    return catalog;
  }

  /**
   * The plugins/ folder of the distribution that this process was started from: below the system
   * property {@code orbitkv.home}, else the variable {@code ORBITKV_HOME}; empty without both.
   */
  public static Optional<Path> distributionFolder() {
    return Optional.ofNullable(System.getProperty("orbitkv.home"))
        .or(() -> Optional.ofNullable(System.getenv("ORBITKV_HOME")))
        .filter(home -> !home.isEmpty())
        .map(home -> Path.of(home, "plugins").toAbsolutePath().normalize());
  }

  /** The providers, in the order in which they were found. */
  public synchronized List<LoadedProvider> providers() {
    return plugins.stream().flatMap(plugin -> plugin.providers().stream()).toList();
  }

  /** The plugins that could not be loaded, and the folders without any. */
  public synchronized List<BrokenPlugin> broken() {
    return List.copyOf(broken);
  }

  /** The options of every provider, by the provider's name. */
  public Map<String, List<OptionSpec>> options() {
    Map<String, List<OptionSpec>> options = new LinkedHashMap<>();
    providers().forEach(provider -> options.put(provider.name(), provider.options()));
    return options;
  }

  /**
   * The provider of a name, and never another one in its place.
   *
   * @throws TransportException NOT_FOUND naming the providers that there are, and the reasons of
   *     the broken plugins that this name may be about
   */
  public LoadedProvider select(String name) {
    return providers().stream()
        .filter(provider -> provider.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new TransportException(FaultCode.NOT_FOUND, whyNot(name)));
  }

  private String whyNot(String name) {
    List<BrokenPlugin> all = broken();
    String have = providers().stream().map(LoadedProvider::name).collect(Collectors.joining(", "));
    String there = have.isEmpty() ? "no provider can be used here" : "there are: " + have;
    List<BrokenPlugin> guilty = all.stream().filter(plugin -> plugin.concerns(name)).toList();
    if (guilty.isEmpty() && have.isEmpty()) {
      guilty = all;
    }
    if (guilty.isEmpty()) {
      String others =
          all.isEmpty()
              ? "add the folder of its plugin with --plugin-dir"
              : "'orbitkv providers' tells why "
                  + all.stream().map(BrokenPlugin::id).collect(Collectors.joining(", "))
                  + " can not be used";
      return "provider " + name + ": no plugin has it; " + there + "; " + others;
    }
    return "provider "
        + name
        + ": "
        + guilty.stream().map(BrokenPlugin::toString).collect(Collectors.joining("; "))
        + "; "
        + there;
  }

  /**
   * Unloads the plugins, except those with a provider in use: these stay, and are named in a
   * warning.
   */
  @Override
  public synchronized void close() {
    plugins.removeIf(
        plugin -> {
          Optional<LoadedProvider> used =
              plugin.providers().stream().filter(LoadedProvider::isUsed).findFirst();
          used.ifPresentOrElse(
              provider ->
                  LOG.warn("provider {} stays loaded: its transport is open", provider.name()),
              plugin::unload);
          return used.isEmpty();
        });
  }
}
