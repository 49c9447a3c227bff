package io.orbitkv.tck;

import io.orbitkv.api.spi.Provider;
import java.nio.file.Path;
import java.util.List;

/** A provider as its users get it: a plugin's folder or jar, and the loader of the product. */
public interface PluginPackage {
  /** The folder or the jar. */
  Path path();

  /**
   * Loads it once more, apart from what is loaded already.
   *
   * @return the plugin, owned by the caller
   * @throws RuntimeException if it can not be loaded, with the reason
   */
  Loaded load();

  /** A plugin that was loaded. */
  interface Loaded extends AutoCloseable {
    /** Its providers. */
    List<Provider> providers();

    /** Unloads it: its class loader is closed and no longer held. */
    @Override
    void close();
  }
}
