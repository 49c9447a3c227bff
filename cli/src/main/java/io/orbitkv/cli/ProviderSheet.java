package io.orbitkv.cli;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Probe;
import io.orbitkv.manager.plugin.LoadedProvider;
import java.util.Map;
import java.util.Optional;

/**
 * What is shown of a provider.
 *
 * @param loaded the provider
 * @param probe whether it works here
 * @param capabilities what it binds itself to; empty if it could not say
 */
record ProviderSheet(LoadedProvider loaded, Probe probe, Optional<Capabilities> capabilities) {
  static ProviderSheet of(LoadedProvider loaded, Map<String, String> options) {
    Probe probe = loaded.probe(options);
    try {
      return new ProviderSheet(loaded, probe, Optional.of(loaded.capabilities(options)));
    } catch (TransportException e) {
      Probe told =
          probe.usable()
              ? Probe.unusable(String.valueOf(e.getMessage()), "mend its options")
              : probe;
      return new ProviderSheet(loaded, told, Optional.empty());
    }
  }

  /** What it is for. */
  String kind() {
    return loaded.provider() instanceof io.orbitkv.api.spi.TransportProvider
        ? "transport"
        : "device copies";
  }
}
