package io.orbitkv.tck;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.api.spi.TransportProvider;
import java.net.URI;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * The fixture of a packaged provider of which nothing else is known. It declines what the
 * provider's capabilities do not promise, and the levers if its bytes do not go over TCP to its
 * endpoint.
 */
public final class PackagedFixture implements ProviderFixture {
  private final TransportProvider provider;
  private final Map<String, String> options;
  private final PluginPackage plugin;
  private final Map<Behaviour, String> declined = new EnumMap<>(Behaviour.class);
  private final boolean overTcp;

  /**
   * Opens one engine, and closes it, to see what its endpoint is.
   *
   * @param provider the provider, loaded from the plugin
   * @param options its options that differ from the defaults, by full name
   * @param plugin where it came from
   * @throws io.orbitkv.api.TransportException if it can not be opened, or an option is refused
   */
  public PackagedFixture(
      TransportProvider provider, Map<String, String> options, PluginPackage plugin) {
    this.provider = provider;
    this.options = Map.copyOf(options);
    this.plugin = plugin;
    URI endpoint;
    Capabilities capabilities;
    try (Transport transport = provider.open(new KitContext(this, 1))) {
      endpoint = transport.endpoint();
      capabilities = transport.capabilities();
    }
    overTcp = String.valueOf(endpoint.getScheme()).endsWith("tcp") && endpoint.getPort() > 0;
    if (!overTcp) {
      String reason = "nothing can stand in the way of " + endpoint.getScheme() + "://";
      declined.put(Behaviour.STALL, reason);
      declined.put(Behaviour.CUT, reason);
      declined.put(Behaviour.SUCCESSOR, reason);
    }
    if (!capabilities.cancels()) {
      declined.put(Behaviour.CANCEL, "its capabilities do not promise it");
    }
    if (!capabilities.strided()) {
      declined.put(Behaviour.STRIDED, "its capabilities do not promise it");
    }
  }

  @Override
  public TransportProvider provider() {
    return provider;
  }

  @Override
  public Map<String, String> options() {
    return options;
  }

  @Override
  public Map<Behaviour, String> declined() {
    return Map.copyOf(declined);
  }

  @Override
  public Optional<FaultLever> lever(Transport owner) {
    return overTcp ? Optional.of(TcpLever.before(owner)) : Optional.empty();
  }

  @Override
  public Optional<PluginPackage> plugin() {
    return Optional.of(plugin);
  }
}
