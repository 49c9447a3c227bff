package io.orbitkv.cli;

import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.manager.config.SettingValues;
import io.orbitkv.manager.config.Settings;
import io.orbitkv.manager.plugin.LoadedProvider;
import io.orbitkv.manager.plugin.ProviderCatalog;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/**
 * The command {@code orbitkv manager}: runs a Manager until a signal. Exit code 0 after an orderly
 * end, 1 if it could not start or if memory was given up.
 */
@Command(name = "manager", description = "Runs the Manager of this host.")
final class ManagerCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Unmatched private List<String> arguments = new ArrayList<>();

  @Override
  public Integer call() throws InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    Map<String, String> environment = System.getenv();
    ManagerArguments places = ManagerArguments.readPlaces(arguments, err);
    SettingValues where = SettingValues.beforePlugins(places.flags(), environment);
    try (ProviderCatalog catalog = catalog(where)) {
      if (places.wantsHelp()) {
        out.print(ManagerArguments.read(arguments, catalog.options(), err).help());
        out.flush();
        return 0;
      }
      // First, so that the flags of a provider that is broken do not count as unknown.
      LoadedProvider loaded = catalog.select(where.get(Settings.BACKEND));
      ManagerArguments asked = ManagerArguments.read(arguments, catalog.options(), err);
      SettingValues values = SettingValues.resolve(asked.flags(), environment, catalog.options());
      ManagerConfiguration configuration = ManagerConfiguration.of(values);
      LogOutput.configure(configuration.logFormat(), configuration.logLevel());
      TransportProvider provider = Backend.transport(loaded);
      Backend.checkEvidence(loaded, configuration.providerOptions());
      if (asked.printsConfiguration()) {
        PrintedConfiguration.print(values, asked.json(), out);
        return 0;
      }
      Backend.checkUsable(loaded, configuration.providerOptions());
      return new Serving(out, err, asked.json()).run(configuration, loaded, provider);
    }
  }

  /** The distribution's plugins, and those of the folders that were named. */
  static ProviderCatalog catalog(SettingValues where) {
    List<Path> folders = new ArrayList<>();
    ProviderCatalog.distributionFolder().ifPresent(folders::add);
    folders.addAll(where.list(Settings.PLUGIN_DIRS));
    return ProviderCatalog.load(folders);
  }
}
