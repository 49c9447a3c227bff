package io.orbitkv.cli;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Provider;
import io.orbitkv.manager.plugin.LoadedProvider;
import io.orbitkv.manager.plugin.ProviderCatalog;
import io.orbitkv.tck.PluginPackage;
import java.nio.file.Path;
import java.util.List;

/** A plugin that the kit loads with the loader of the Manager. */
record CatalogPackage(Path path) implements PluginPackage {
  @Override
  public Loaded load() {
    ProviderCatalog catalog = ProviderCatalog.load(List.of(path));
    if (!catalog.broken().isEmpty()) {
      String reason = catalog.broken().getFirst().toString();
      catalog.close();
      throw new TransportException(FaultCode.NOT_FOUND, reason);
    }
    return new Loaded() {
      @Override
      public List<Provider> providers() {
        return catalog.providers().stream().map(LoadedProvider::provider).toList();
      }

      @Override
      public void close() {
        catalog.close();
      }
    };
  }
}
