package io.orbitkv.cli;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.config.SettingValues;
import io.orbitkv.manager.config.Settings;
import io.orbitkv.manager.plugin.ProviderCatalog;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code orbitkv providers}. Exit code 0 if at least one provider can be used here, 1
 * if none can; broken plugins are listed and change nothing in that.
 */
@Command(
    name = "providers",
    description = {
      "Lists the providers: whether they work here, what they can do, their evidence and options;"
          + " and the plugins that are broken.",
      "Ends with 0 if at least one provider can be used here, else with 1."
    },
    mixinStandardHelpOptions = true)
final class ProvidersCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(names = "--json", description = "print JSON on stdout")
  private boolean json;

  @Option(
      names = "--plugin-dir",
      paramLabel = "DIR",
      description = "further folder of plugins, or one plugin; repeatable; or ORBITKV_PLUGIN_DIR")
  private @Nullable List<String> pluginDirs;

  @Override
  public Integer call() {
    Map<String, String> flags =
        pluginDirs == null
            ? Map.of()
            : Map.of(
                Settings.PLUGIN_DIRS.name(),
                String.join(String.valueOf(Settings.PLUGIN_DIRS.separator()), pluginDirs));
    SettingValues values = SettingValues.beforePlugins(flags, System.getenv());
    PrintWriter out = spec.commandLine().getOut();
    try (ProviderCatalog catalog = ManagerCommand.catalog(values)) {
      List<ProviderSheet> sheets =
          catalog.providers().stream()
              .map(loaded -> ProviderSheet.of(loaded, values.optionsOf(loaded.options())))
              .toList();
      if (json) {
        out.println(ProvidersJson.of(sheets, catalog.broken()));
      } else {
        out.print(ProvidersTable.of(sheets, catalog.broken()));
      }
      out.flush();
      if (sheets.stream().noneMatch(sheet -> sheet.probe().usable())) {
        throw new TransportException(
            FaultCode.NOT_FOUND,
            "providers: none can be used here; do what is said above, or name a folder of plugins"
                + " with --plugin-dir");
      }
      return 0;
    }
  }
}
