package io.orbitkv.cli;

import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.manager.Manager;
import io.orbitkv.manager.config.ManagerConfiguration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The Managers of one rehearsal, in this process. Used by the thread that rehearses. */
final class RehearsalManagers {
  private final TransportProvider provider;
  private final List<OptionSpec> options;
  private final List<Manager> started = new ArrayList<>();
  private volatile boolean clean = true;

  /**
   * None yet.
   *
   * @param options the provider's
   */
  RehearsalManagers(TransportProvider provider, List<OptionSpec> options) {
    this.provider = provider;
    this.options = List.copyOf(options);
  }

  /**
   * Starts one, which serves when this returns.
   *
   * @param settings by name
   * @throws io.orbitkv.api.TransportException naming what could not be had
   */
  void start(Map<String, String> settings) {
    started.add(Manager.start(ManagerConfiguration.of(settings, options), provider));
  }

  /** Ends them all, in order. */
  void end() {
    for (Manager manager : started) {
      if (!manager.shutdown().clean()) {
        clean = false;
      }
    }
  }

  /** Whether nothing of those that have ended is left in this process. */
  boolean clean() {
    return clean;
  }
}
