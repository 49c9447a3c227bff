package io.orbitkv.manager.plugin;

import io.orbitkv.api.spi.Provider;
import io.orbitkv.api.spi.SpiVersion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import org.pf4j.Plugin;
import org.pf4j.PluginDescriptor;
import org.pf4j.PluginState;
import org.pf4j.PluginWrapper;

/** One plugin with its class loader and its providers, all of them checked. */
final class LoadedPlugin {
  private final Path path;
  private final PluginSlot slot;
  private final List<String> claims = new ArrayList<>();
  private final List<LoadedProvider> providers = new ArrayList<>();
  private String id;

  private LoadedPlugin(Path path) {
    this.path = path;
    this.id = String.valueOf(path.getFileName());
    this.slot =
        new PluginSlot(
            Objects.requireNonNullElse(path.getParent(), path), SpiVersion.CURRENT + ".0");
  }

  /**
   * Loads a jar or folder.
   *
   * @param taken names and options that other providers have
   * @param broken is told if it is not a plugin that works; nothing of it stays loaded then
   */
  static Optional<LoadedPlugin> load(
      Path path, ProviderNames taken, Consumer<BrokenPlugin> broken) {
    LoadedPlugin plugin = new LoadedPlugin(path);
    try {
      plugin.start();
      plugin.findProviders();
      taken.add(plugin.providers);
      return Optional.of(plugin);
    } catch (PluginFault e) {
      broken.accept(e.in(path, plugin.id, plugin.claims));
    } catch (RuntimeException | LinkageError e) {
      // ServiceConfigurationError comes as a PluginFault; whatever else a plugin throws is its own.
      broken.accept(PluginFault.of(e).in(path, plugin.id, plugin.claims));
    }
    plugin.unload();
    return Optional.empty();
  }

  List<LoadedProvider> providers() {
    return List.copyOf(providers);
  }

  /** Closes the class loader. */
  void unload() {
    if (slot.getPlugin(id) != null) {
      slot.unloadPlugin(id);
    }
  }

  private void start() throws PluginFault {
    BundledSpi.refuse(path);
    PluginDescriptor descriptor = slot.describe(path);
    id = descriptor.getPluginId();
    if (!descriptor.getDependencies().isEmpty()) {
      throw new PluginFault(
          "it depends on the plugin " + descriptor.getDependencies().getFirst().getPluginId(),
          "put what it needs into its own lib/ folder: plugins do not see each other");
    }
    String pluginClass = descriptor.getPluginClass();
    if (pluginClass != null && !pluginClass.equals(Plugin.class.getName())) {
      throw new PluginFault(
          "it names a plugin class, " + pluginClass,
          "remove plugin.class: providers are found by META-INF/services");
    }
    slot.loadPlugin(path);
    PluginWrapper wrapper = Objects.requireNonNull(slot.getPlugin(id));
    if (wrapper.getPluginState() == PluginState.DISABLED) {
      throw new PluginFault(
          "it requires SPI version '"
              + descriptor.getRequires()
              + "', and this is "
              + slot.getSystemVersion(),
          "install the plugin that was made for this version of OrbitKV");
    }
    if (slot.startPlugin(id) != PluginState.STARTED) {
      throw PluginFault.of(
          Objects.requireNonNullElseGet(
              wrapper.getFailedException(),
              () -> new IllegalStateException("it is " + wrapper.getPluginState())));
    }
  }

  private void findProviders() throws PluginFault {
    ClassLoader loader = slot.getPluginClassLoader(id);
    List<Provider> found = new ArrayList<>();
    try {
      for (var candidates = ServiceLoader.load(Provider.class, loader).stream().iterator();
          candidates.hasNext(); ) {
        ServiceLoader.Provider<Provider> candidate = candidates.next();
        if (Objects.equals(candidate.type().getClassLoader(), loader)) {
          found.add(candidate.get());
        }
      }
    } catch (ServiceConfigurationError e) {
      throw PluginFault.ofService(e);
    }
    if (found.isEmpty()) {
      throw new PluginFault(
          "it has no provider",
          "name its class in META-INF/services/" + Provider.class.getName() + " in its jar");
    }
    for (Provider provider : found) {
      claims.add(String.valueOf(provider.name()));
      ProviderNames.checkVersion(provider);
      LoadedProvider loaded = new LoadedProvider(provider, id, path);
      ProviderNames.checkForm(loaded);
      providers.add(loaded);
    }
  }
}
