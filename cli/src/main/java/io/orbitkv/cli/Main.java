package io.orbitkv.cli;

import io.orbitkv.cli.output.Terminal;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Entry point of the command {@code orbitkv}. A command ends with 0, with 2 if it was called
 * wrongly, and with 1 for everything else; then it leaves one line on stderr.
 */
@Command(
    name = "orbitkv",
    description = "Moves the KV cache of large-language-model inference between hosts.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    subcommands = {
      ManagerCommand.class,
      ProvidersCommand.class,
      PutCommand.class,
      GetCommand.class,
      StatCommand.class,
      ReplayCommand.class,
      QuickstartCommand.class,
      TckCommand.class,
      BenchCommand.class,
    })
public final class Main implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  private Main() {}

  /** Runs one command and ends the process with its exit code. */
  public static void main(String[] args) {
    System.exit(StandardOutput.check(run(args)));
  }

  /** Runs one command; returns its exit code and leaves the process alive. */
  static int run(String... args) {
    CommandLine commandLine = commandLine();
    try {
      return commandLine.execute(args);
    } catch (Error e) {
      // Picocli catches exceptions only.
      return ErrorLine.fatal(e, commandLine.getErr());
    }
  }

  /** All commands. */
  static CommandLine commandLine() {
    return withErrorLine(new CommandLine(new Main()));
  }

  /** Makes a command line end every failure with one line on stderr and the right exit code. */
  static CommandLine withErrorLine(CommandLine commandLine) {
    ErrorLine errors = new ErrorLine();
    return commandLine
        .setParameterExceptionHandler(errors)
        .setExecutionExceptionHandler(errors)
        .setHelpFactory(
            (command, colors) -> {
              command.usageMessage().width(Terminal.columns(100));
              return new Help(command, colors);
            });
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "no command given; try 'orbitkv --help'");
  }

  /** The version of the jar that this class came from. */
  static String version() {
    String version = Main.class.getPackage().getImplementationVersion();
    return version == null ? "(not packaged)" : version;
  }

  /** What {@code --version} prints. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"orbitkv " + version()};
    }
  }
}
