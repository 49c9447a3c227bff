package io.orbitkv.manager.plugin;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.pf4j.BasePluginLoader;
import org.pf4j.ClassLoadingStrategy;
import org.pf4j.CompoundPluginLoader;
import org.pf4j.DefaultPluginClasspath;
import org.pf4j.DefaultPluginManager;
import org.pf4j.JarPluginLoader;
import org.pf4j.Plugin;
import org.pf4j.PluginClassLoader;
import org.pf4j.PluginDescriptor;
import org.pf4j.PluginFactory;
import org.pf4j.PluginLoader;
import org.pf4j.PluginRuntimeException;

/**
 * PF4J for exactly one plugin. A manager of several keeps a plugin that failed half way and fails
 * every later one by it.
 */
final class PluginSlot extends DefaultPluginManager {
  private static final ClassLoader PARENT = new SpiParent(PluginSlot.class.getClassLoader());

  PluginSlot(Path folder, String spiVersion) {
    super(List.of(folder));
    setSystemVersion(spiVersion);
  }

  /**
   * What the plugin says of itself.
   *
   * @throws PluginFault if it says nothing
   */
  PluginDescriptor describe(Path plugin) throws PluginFault {
    try {
      PluginDescriptor descriptor = getPluginDescriptorFinder().find(plugin);
      if (descriptor != null
          && descriptor.getPluginId() != null
          && !descriptor.getPluginId().isBlank()) {
        return descriptor;
      }
    } catch (PluginRuntimeException e) {
      throw notOne(e);
    }
    throw notOne(null);
  }

  private static PluginFault notOne(@Nullable Throwable cause) {
    return new PluginFault(
        "it is not a plugin: it has no plugin.properties with a plugin.id",
        "remove it, or add that file beside its lib/ folder or into its jar",
        cause);
  }

  @Override
  protected PluginLoader createPluginLoader() {
    return new CompoundPluginLoader()
        .add(
            new JarPluginLoader(this) {
              @Override
              protected PluginClassLoader createPluginClassLoader(
                  Path path, PluginDescriptor descriptor) {
                return isolated(descriptor);
              }
            })
        .add(
            new BasePluginLoader(this, new DefaultPluginClasspath()) {
              @Override
              protected PluginClassLoader createPluginClassLoader(
                  Path path, PluginDescriptor descriptor) {
                return isolated(descriptor);
              }
            });
  }

  /** PF4J's own classes are hidden from plugins, so it can not load its default plugin class. */
  @Override
  protected PluginFactory createPluginFactory() {
    return wrapper -> new Plugin() {};
  }

  private PluginClassLoader isolated(PluginDescriptor descriptor) {
    return new PluginClassLoader(this, descriptor, PARENT, ClassLoadingStrategy.APD);
  }
}
