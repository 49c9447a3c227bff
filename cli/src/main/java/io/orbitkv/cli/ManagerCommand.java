package io.orbitkv.cli;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.manager.config.ConfigurationException;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.manager.config.SettingValues;
import io.orbitkv.manager.config.Settings;
import io.orbitkv.manager.plugin.LoadedProvider;
import io.orbitkv.manager.plugin.ProviderCatalog;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.slf4j.LoggerFactory;
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
      LoadedProvider loaded = Backend.select(catalog, where.get(Settings.BACKEND));
      ManagerArguments asked = ManagerArguments.read(arguments, catalog.options(), err);
      SettingValues values = SettingValues.resolve(asked.flags(), environment, catalog.options());
      ManagerConfiguration configuration = ManagerConfiguration.of(values);
      LogOutput.configure(configuration.logFormat(), configuration.logLevel());
      values.misspeltVariables().ifPresent(ManagerCommand::warnOfUnknown);
      TransportProvider provider = Backend.transport(loaded);
      checkOptions(loaded, configuration.providerOptions());
      if (asked.printsConfiguration()) {
        PrintedConfiguration.print(values, asked.json(), out);
        return 0;
      }
      Backend.checkUsable(loaded, configuration.providerOptions());
      return new Serving(out, err, asked.json()).run(configuration, loaded, provider);
    }
  }

  private static void checkOptions(LoadedProvider loaded, Map<String, String> options) {
    try {
      Backend.checkEvidence(loaded, options);
    } catch (TransportException e) {
      if (e.code() == FaultCode.INVALID) {
        throw new ConfigurationException(String.valueOf(e.getMessage()), e);
      }
      throw e;
    }
  }

  /**
   * The distribution's plugins, and those of the folders that were named.
   *
   * @throws ConfigurationException if a folder that was named does not exist
   */
  static ProviderCatalog catalog(SettingValues where) {
    List<Path> named = where.list(Settings.PLUGIN_DIRS);
    for (Path folder : named) {
      if (!Files.exists(folder)) {
        String place = where.value(Settings.PLUGIN_DIRS).placeOrDefault();
        throw new ConfigurationException(
            place + ": " + folder + " does not exist; name a folder of plugins, or a plugin");
      }
    }
    List<Path> folders = new ArrayList<>();
    ProviderCatalog.distributionFolder().ifPresent(folders::add);
    folders.addAll(named);
    return ProviderCatalog.load(folders);
  }

  private static void warnOfUnknown(String variables) {
    // Not a static logger: every command would pay for the start of logging.
    LoggerFactory.getLogger(ManagerCommand.class).warn("unknown: {}", variables);
  }
}
