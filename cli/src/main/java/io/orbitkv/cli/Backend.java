package io.orbitkv.cli;

import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Side;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Probe;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.manager.config.ConfigurationException;
import io.orbitkv.manager.plugin.BrokenPlugin;
import io.orbitkv.manager.plugin.LoadedProvider;
import io.orbitkv.manager.plugin.ProviderCatalog;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.UnmatchedArgumentException;

/** What a provider must be for a Manager to be started with it. */
final class Backend {
  private static final Set<Evidence> DESTINATION =
      Collections.unmodifiableSet(EnumSet.of(Evidence.LOCAL_COMPLETION, Evidence.LOCAL_QUIESCED));

  private Backend() {}

  /**
   * The provider of that name.
   *
   * @throws ConfigurationException if nothing here has the name, which is a mistake of the caller
   * @throws TransportException if its plugin is broken, which is not
   */
  static LoadedProvider select(ProviderCatalog catalog, String name) {
    try {
      return catalog.select(name);
    } catch (TransportException e) {
      if (catalog.broken().stream().anyMatch(plugin -> isCalled(plugin, name))) {
        throw e;
      }
      List<String> near = similar(name, catalog.providers());
      throw new ConfigurationException(
          e.getMessage()
              + (near.isEmpty() ? "" : "; did you mean " + String.join(" or ", near) + "?"),
          e);
    }
  }

  private static boolean isCalled(BrokenPlugin plugin, String name) {
    String file = String.valueOf(plugin.path().getFileName());
    return plugin.claims().contains(name)
        || plugin.id().equals(name)
        || file.equals(name)
        || file.equals(name + ".jar");
  }

  // Picocli knows how to find what was meant, among commands.
  private static List<String> similar(String name, List<LoadedProvider> providers) {
    CommandLine names = new CommandLine(CommandSpec.create());
    providers.forEach(provider -> names.addSubcommand(provider.name(), CommandSpec.create()));
    return new UnmatchedArgumentException(names, List.of(name)).getSuggestions();
  }

  /**
   * The provider as one that moves bytes between hosts.
   *
   * @throws TransportException UNSUPPORTED if it is of another kind
   */
  static TransportProvider transport(LoadedProvider loaded) {
    if (loaded.provider() instanceof TransportProvider provider) {
      return provider;
    }
    throw new TransportException(
        FaultCode.UNSUPPORTED,
        "provider "
            + loaded.name()
            + ": it copies to devices of this host and moves nothing between hosts;"
            + " choose another with --peer-transfer-backend");
  }

  /**
   * Refuses a provider whose evidence would never free memory.
   *
   * @throws TransportException UNSUPPORTED, or INVALID if an option is not acceptable to it
   */
  static void checkEvidence(LoadedProvider loaded, Map<String, String> options) {
    var capabilities = loaded.capabilities(options);
    Set<Evidence> destination = capabilities.evidence(Side.DESTINATION);
    if (Collections.disjoint(destination, DESTINATION)) {
      throw missing(loaded, "the requester's memory", destination, "one of " + DESTINATION);
    }
    Set<Evidence> source = capabilities.evidence(Side.SOURCE);
    if (source.isEmpty()) {
      throw missing(loaded, "the owner's memory", source, "some");
    }
  }

  private static TransportException missing(
      LoadedProvider loaded, String whose, Set<Evidence> offered, String needed) {
    return new TransportException(
        FaultCode.UNSUPPORTED,
        "provider "
            + loaded.name()
            + ": its evidence for "
            + whose
            + " is "
            + (offered.isEmpty() ? "none" : new TreeSet<>(offered))
            + ", and a Manager needs "
            + needed
            + " to use memory again; choose another with --peer-transfer-backend");
  }

  /**
   * Refuses a provider that does not work here.
   *
   * @throws TransportException DEVICE with what the provider found and what would mend it
   */
  static void checkUsable(LoadedProvider loaded, Map<String, String> options) {
    Probe probe = loaded.probe(options);
    if (!probe.usable()) {
      throw new TransportException(
          FaultCode.DEVICE,
          "provider " + loaded.name() + ": " + probe.detail() + "; " + probe.fix());
    }
  }
}
