package io.orbitkv.cli;

import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.manager.Manager;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.manager.plugin.LoadedProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The Managers of one rehearsal, in this process, with a use of their provider: it is ended only if
 * nothing of them is left. Used by the thread that rehearses, once it was made.
 */
final class RehearsalManagers {
  private final LoadedProvider loaded;
  private final TransportProvider provider;
  private final LoadedProvider.Use use;
  private final List<Manager> started = new ArrayList<>();

  /**
   * None yet; to be ended in any case.
   *
   * @throws io.orbitkv.api.TransportException UNSUPPORTED if the provider moves nothing between
   *     hosts
   */
  RehearsalManagers(LoadedProvider loaded) {
    this.loaded = loaded;
    provider = Backend.transport(loaded);
    use = loaded.use();
  }

  /**
   * Starts one, which serves when this returns.
   *
   * @param settings by name
   * @throws io.orbitkv.api.TransportException naming what could not be had
   */
  void start(Map<String, String> settings) {
    started.add(Manager.start(ManagerConfiguration.of(settings, loaded.options()), provider));
  }

  /** Ends them all, in order. Once. */
  void end() {
    boolean clean = true;
    for (Manager manager : started) {
      clean &= manager.shutdown().clean();
    }
    // Else the use stays: code that may still run must not be unloaded.
    if (clean) {
      use.close();
    }
  }
}
