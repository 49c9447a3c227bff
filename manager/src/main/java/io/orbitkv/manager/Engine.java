package io.orbitkv.manager;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.manager.memory.MemoryArena;
import io.orbitkv.manager.memory.Pool;
import java.util.ArrayList;
import java.util.List;

/** The opened transport of a Manager, with what was lent to it and what is registered at it. */
final class Engine {
  private final TransportProvider provider;
  private final ReceiptIssuer issuer;
  private final BatchBudget budget;
  private final EngineMeters meters = new EngineMeters();
  private final Transport transport;
  private final List<Registration> registrations = new ArrayList<>();

  private Engine(
      TransportProvider provider,
      ManagerConfiguration configuration,
      ReceiptIssuer issuer,
      BatchBudget budget) {
    this.provider = provider;
    this.issuer = issuer;
    this.budget = budget;
    this.transport =
        provider.open(
            new LentContext(
                provider.name(),
                configuration.providerOptions(),
                configuration.publishedHost(),
                issuer,
                budget,
                meters,
                configuration.retirementGrace().toNanos()));
  }

  /**
   * Opens the provider's transport and registers the pool at it.
   *
   * @throws TransportException if either fails; nothing stays open then
   */
  static Engine open(TransportProvider provider, ManagerConfiguration configuration, Pool pool) {
    ReceiptIssuer issuer =
        new ReceiptIssuer(
            provider.name(),
            Epoch.random(),
            provider.capabilities(configuration.providerOptions()).evidence());
    Engine engine =
        new Engine(
            provider,
            configuration,
            issuer,
            new BatchBudget(configuration.maxLiveBatches(), configuration.maxDescriptorBytes()));
    try {
      for (MemoryArena arena : pool.arenas()) {
        engine.registrations.add(engine.transport.register(arena.region()));
      }
      return engine;
    } catch (TransportException e) {
      engine.close();
      throw e;
    }
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

  EngineMeters meters() {
    return meters;
  }

  /**
   * Withdraws the registrations, then ends the transport.
   *
   * @throws TransportException IN_USE while something is not drained; can be repeated
   */
  void close() {
    transport.quiesce();
    while (!registrations.isEmpty()) {
      registrations.getLast().close();
      registrations.removeLast();
    }
    transport.close();
  }
}
