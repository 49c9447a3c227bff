package io.orbitkv.cli;

import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.cli.output.Terminal;
import io.orbitkv.manager.config.Settings;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/**
 * The command line of {@code orbitkv manager}. Its flags include the options of the providers that
 * there are, so it is read twice: first for where the providers are, then for everything.
 */
final class ManagerArguments {
  private static final String HELP = "--help";
  private static final String PRINT_CONFIG = "--print-config";
  private static final String JSON = "--json";

  private final CommandLine commandLine;
  private final ParseResult parsed;

  private ManagerArguments(CommandLine commandLine, ParseResult parsed) {
    this.commandLine = commandLine;
    this.parsed = parsed;
  }

  /** Reads where the providers are and which of them is asked for; lets everything else be. */
  static ManagerArguments readPlaces(List<String> arguments, PrintWriter err) {
    CommandSpec spec = command();
    SettingFlags.add(spec, Settings.PLUGIN_DIRS);
    SettingFlags.add(spec, Settings.BACKEND);
    CommandLine commandLine = new CommandLine(spec).setUnmatchedArgumentsAllowed(true);
    return parse(commandLine, arguments, err);
  }

  /** Reads everything. */
  static ManagerArguments read(
      List<String> arguments, Map<String, List<OptionSpec>> providers, PrintWriter err) {
    CommandSpec spec = command();
    Settings.ALL.forEach(setting -> SettingFlags.add(spec, setting));
    providers.values().forEach(list -> list.forEach(option -> SettingFlags.add(spec, option)));
    return parse(new CommandLine(spec), arguments, err);
  }

  private static ManagerArguments parse(
      CommandLine commandLine, List<String> arguments, PrintWriter err) {
    commandLine.setErr(err).setUsageHelpWidth(Terminal.columns(100)).setExpandAtFiles(false);
    return new ManagerArguments(
        commandLine, commandLine.parseArgs(arguments.toArray(String[]::new)));
  }

  private static CommandSpec command() {
    CommandSpec spec = CommandSpec.create().name("orbitkv manager");
    spec.usageMessage()
        .abbreviateSynopsis(true)
        .sortOptions(false)
        .description(
            "Runs the Manager of this host until SIGTERM or SIGINT; a second one gives up what is"
                + " still held.",
            "Each flag but the first four is also the variable ORBITKV_NAME and a key of the file;"
                + " a flag wins over the variable, and that over the file.");
    spec.addOption(flag("-h", HELP).usageHelp(true).description("print this").build());
    spec.addOption(
        flag(PRINT_CONFIG)
            .description("check everything, print every value and its origin, start nothing")
            .build());
    spec.addOption(flag(JSON).description("print JSON on stdout").build());
    SettingFlags.addConfig(spec);
    return spec;
  }

  private static Model.OptionSpec.Builder flag(String... names) {
    return Model.OptionSpec.builder(names).type(boolean.class).arity("0");
  }

  boolean wantsHelp() {
    return parsed.isUsageHelpRequested();
  }

  boolean printsConfiguration() {
    return parsed.hasMatchedOption(PRINT_CONFIG);
  }

  boolean json() {
    return parsed.hasMatchedOption(JSON);
  }

  String help() {
    return commandLine.getUsageMessage();
  }

  Map<String, String> flags() {
    return SettingFlags.given(parsed);
  }
}
