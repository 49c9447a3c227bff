package io.orbitkv.manager;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.manager.memory.MemoryArena;
import io.orbitkv.manager.memory.Pool;
import java.util.Objects;

/** The opened transport of a Manager, with what was lent to it and what is registered at it. */
final class Engine {
  private final TransportProvider provider;
  private final ReceiptIssuer issuer;
  private final BatchBudget budget;
  private final EngineMeters meters = new EngineMeters();
  private final Transport transport;
  private final PoolRegistrations registrations;

  private Engine(
      TransportProvider provider,
      ManagerConfiguration configuration,
      ReceiptIssuer issuer,
      BatchBudget budget) {
    this.provider = provider;
    this.issuer = issuer;
    this.budget = budget;
    this.transport =
        Objects.requireNonNull(
            provider.open(
                new LentContext(
                    provider.name(),
                    configuration.providerOptions(),
                    configuration.publishedHost(),
                    issuer,
                    budget,
                    meters,
                    configuration.retirementGrace().toNanos())),
            "null instead of a transport");
    this.registrations = new PoolRegistrations(transport, provider.name());
  }

  /**
   * Opens the provider's transport. It knows no memory yet.
   *
   * @throws TransportException if it fails; nothing stays open then. INTERNAL if the provider threw
   *     what the SPI does not know, such as that a native library is missing
   */
  static Engine open(TransportProvider provider, ManagerConfiguration configuration) {
    try {
      return opened(provider, configuration);
    } catch (RuntimeException | LinkageError e) {
      throw ProviderFault.of(provider.name(), "open()", e);
    }
  }

  private static Engine opened(TransportProvider provider, ManagerConfiguration configuration) {
    ReceiptIssuer issuer =
        new ReceiptIssuer(
            provider.name(),
            Epoch.random(),
            provider.capabilities(configuration.providerOptions()).evidence());
    return new Engine(
        provider,
        configuration,
        issuer,
        new BatchBudget(configuration.maxLiveBatches(), configuration.maxDescriptorBytes()));
  }

  /**
   * Registers the pool at the transport: all of it, or nothing.
   *
   * @throws TransportException naming the arena that failed, and any that can not be taken back
   */
  void register(Pool pool) {
    registrations.register(pool.arenas().stream().map(MemoryArena::region).toList());
  }

  String backend() {
    return provider.name();
  }

  ReceiptIssuer issuer() {
    return issuer;
  }

  Transport transport() {
    return transport;
  }

  BatchBudget budget() {
    return budget;
  }

  PoolRegistrations registrations() {
    return registrations;
  }

  EngineMeters meters() {
    return meters;
  }

  /**
   * Withdraws the registrations, then ends the transport. Until it has returned, the pool must stay
   * mapped.
   *
   * @throws TransportException IN_USE while something is not drained, or as the provider's close of
   *     a registration; can be repeated
   */
  void close() {
    transport.quiesce();
    registrations.close();
    transport.close();
  }
}
