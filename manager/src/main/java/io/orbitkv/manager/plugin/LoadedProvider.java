package io.orbitkv.manager.plugin;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.Probe;
import io.orbitkv.api.spi.Provider;
import io.orbitkv.api.spi.SpiVersion;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A provider that was found and checked. Owned by its {@link ProviderCatalog}; usable until that is
 * closed. Thread-safe.
 */
public final class LoadedProvider {
  private final Provider provider;
  private final String name;
  private final String version;
  private final SpiVersion spiVersion;
  private final List<OptionSpec> options;
  private final String pluginId;
  private final Path path;
  private final AtomicInteger uses = new AtomicInteger();

  /** Asks the provider for what does not change. */
  LoadedProvider(Provider provider, String pluginId, Path path) {
    this.provider = provider;
    this.name = provider.name();
    this.version = provider.version();
    this.spiVersion = provider.spiVersion();
    this.options = List.copyOf(provider.options());
    this.pluginId = pluginId;
    this.path = path;
  }

  /** The provider itself. */
  public Provider provider() {
    return provider;
  }

  /** The name that it is picked by. */
  public String name() {
    return name;
  }

  /** Its own version. */
  public String version() {
    return version;
  }

  /** The version of the SPI that it was built for. */
  public SpiVersion spiVersion() {
    return spiVersion;
  }

  /** Its options. */
  public List<OptionSpec> options() {
    return options;
  }

  /** The id of the plugin that it is in. */
  public String pluginId() {
    return pluginId;
  }

  /** The jar or folder of that plugin. */
  public Path path() {
    return path;
  }

  /**
   * Whether it works here. A provider that breaks while it is asked does not.
   *
   * @param given options by full name; absent ones have their default
   */
  public Probe probe(Map<String, String> given) {
    try {
      return provider.probe(given);
    } catch (RuntimeException | LinkageError e) {
      BrokenPlugin broken = PluginFault.of(e).in(path, pluginId, List.of(name));
      return Probe.unusable(broken.reason(), broken.fix());
    }
  }

  /**
   * What it binds itself to.
   *
   * @param given options by full name; absent ones have their default
   * @throws TransportException INVALID if an option is not acceptable, INTERNAL if the provider
   *     breaks
   */
  public Capabilities capabilities(Map<String, String> given) {
    try {
      return provider.capabilities(given);
    } catch (TransportException e) {
      throw e;
    } catch (RuntimeException | LinkageError e) {
      throw new TransportException(
          FaultCode.INTERNAL, "provider " + PluginFault.of(e).in(path, pluginId, List.of(name)), e);
    }
  }

  /**
   * Keeps its plugin loaded for as long as a transport of it is open.
   *
   * @return the use, to be closed once, after the transport was closed
   */
  public Use use() {
    uses.incrementAndGet();
    return new Use();
  }

  boolean isUsed() {
    return uses.get() > 0;
  }

  /** A use of a provider. */
  public final class Use implements AutoCloseable {
    private boolean closed;

    private Use() {}

    /**
     * Ends the use.
     *
     * @throws IllegalStateException if it was closed before
     */
    @Override
    public synchronized void close() {
      if (closed) {
        throw new IllegalStateException("a use of provider " + name + " is closed twice");
      }
      closed = true;
      uses.decrementAndGet();
    }
  }
}
