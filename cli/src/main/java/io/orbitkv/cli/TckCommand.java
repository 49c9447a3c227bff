package io.orbitkv.cli;

import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.cli.output.Progress;
import io.orbitkv.manager.config.ConfigurationException;
import io.orbitkv.manager.plugin.LoadedProvider;
import io.orbitkv.manager.plugin.ProviderCatalog;
import io.orbitkv.tck.PackagedFixture;
import io.orbitkv.tck.Suite;
import io.orbitkv.tck.TckReport;
import io.orbitkv.tck.TckRow;
import io.orbitkv.tck.TckRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The command {@code orbitkv tck}: runs the compatibility kit against a packaged plugin. Exit code
 * 0 if every test passed or was declined with a reason, else 1.
 */
@Command(
    name = "tck",
    description = {
      "Runs the compatibility kit against a provider's plugin: loads it as a Manager does, opens two"
          + " engines in this process, and checks bytes, outcomes, receipts, faults and limits.",
      "Ends with 1 unless every test passed; a test that the provider declines is counted with its"
          + " reason."
    },
    mixinStandardHelpOptions = true)
final class TckCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      paramLabel = "PLUGIN",
      description = "Folder or jar of the plugin, or the name of one that came with this command.")
  private Path plugin = Path.of("");

  @Option(
      names = "--provider",
      paramLabel = "NAME",
      description = "Which provider of the plugin. Default: the only one.")
  private @Nullable String provider;

  @Option(
      names = {"-o", "--option"},
      paramLabel = "NAME=VALUE",
      description = "An option of the provider, by its full name; repeatable.")
  private Map<String, String> options = new LinkedHashMap<>();

  @Option(
      names = "--suite",
      paramLabel = "NAME",
      description = "Only this suite, as in drain; repeatable. Default: all.")
  private @Nullable List<String> suites;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      defaultValue = "tck-report.json",
      description = "Where the report is written. Default: ${DEFAULT-VALUE}.")
  private Path report = Path.of("");

  @Option(names = "--json", description = "Print the report, one JSON object, instead of a table.")
  private boolean json;

  private TckCommand() {}

  @Override
  public Integer call() throws CommandException {
    Set<Suite> chosen = suites();
    Path path = place();
    TckReport found;
    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(path))) {
      LoadedProvider loaded = only(catalog, path);
      TransportProvider tested = Backend.transport(loaded);
      Backend.checkUsable(loaded, options);
      PackagedFixture fixture =
          new PackagedFixture(tested, options, new CatalogPackage(loaded.path()));
      found = run(fixture, chosen);
    }
    String text = TckSheet.json(found);
    try {
      Files.writeString(report, text + "\n");
    } catch (IOException e) {
      throw new CommandException(
          "report " + report + ": it can not be written: " + e + "; name another with --report", e);
    }
    var out = spec.commandLine().getOut();
    out.print(json ? text + "\n" : TckSheet.table(found));
    out.flush();
    if (!found.passed()) {
      throw new CommandException(
          "provider "
              + found.provider()
              + ": "
              + found.count(TckRow.Result.FAILED)
              + " of "
              + found.rows().size()
              + " tests of the kit failed; see "
              + report);
    }
    return 0;
  }

  private static TckReport run(PackagedFixture fixture, Set<Suite> chosen) {
    Set<String> begun = new HashSet<>();
    try (Progress progress = Progress.onStandardError("tck", chosen.size(), " suites")) {
      return TckRun.run(fixture, chosen, row -> progress.step(begun.add(row.suite()) ? 1 : 0));
    }
  }

  private Set<Suite> suites() {
    List<String> names = suites;
    if (names == null) {
      return EnumSet.allOf(Suite.class);
    }
    Set<Suite> chosen = EnumSet.noneOf(Suite.class);
    for (String name : names) {
      try {
        chosen.add(Suite.valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_')));
      } catch (IllegalArgumentException e) {
        throw new ParameterException(
            spec.commandLine(),
            "--suite " + name + ": there is none; choose from " + EnumSet.allOf(Suite.class),
            e);
      }
    }
    return chosen;
  }

  /** A name without a file behind it may be that of a plugin of the distribution. */
  private Path place() {
    if (Files.notExists(plugin) && plugin.getNameCount() == 1) {
      Path shipped =
          ProviderCatalog.distributionFolder().map(folder -> folder.resolve(plugin)).orElse(plugin);
      if (Files.exists(shipped)) {
        return shipped;
      }
    }
    if (Files.notExists(plugin)) {
      throw new ConfigurationException(
          "plugin " + plugin + ": there is no such file or plugin; name its folder or its jar");
    }
    return plugin;
  }

  private LoadedProvider only(ProviderCatalog catalog, Path path) throws CommandException {
    String wanted = provider;
    if (wanted != null) {
      return Backend.select(catalog, wanted);
    }
    if (!catalog.broken().isEmpty()) {
      throw new CommandException(catalog.broken().getFirst().toString());
    }
    List<LoadedProvider> all = catalog.providers();
    if (all.size() != 1) {
      throw new CommandException(
          "plugin "
              + path
              + ": it has the providers "
              + all.stream().map(LoadedProvider::name).toList()
              + "; choose one with --provider");
    }
    return all.getFirst();
  }
}
