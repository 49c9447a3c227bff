package io.orbitkv.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code orbitkv bench}. */
@Command(
    name = "bench",
    description = "Measures on this machine, beside a baseline that runs in the same minute.",
    mixinStandardHelpOptions = true,
    subcommands = {
      BenchTransferCommand.class,
      BenchChannelCommand.class,
      BenchChannelEndCommand.class
    })
final class BenchCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  private BenchCommand() {}

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "say what to measure; try 'bench transfer' or 'bench channel'");
  }
}
