package io.orbitkv.cli;

import io.orbitkv.bench.channel.ChannelEnd;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** One of the two processes that {@code bench channel} measures; started by it alone. */
@Command(name = "channel-end", hidden = true, description = "One end of 'bench channel'.")
final class BenchChannelEndCommand implements Callable<Integer> {
  @Parameters(index = "0", description = "Which.")
  private String kind = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      defaultValue = "",
      description = "Address of the server.")
  private String address = "";

  private BenchChannelEndCommand() {}

  @Override
  public Integer call() throws CommandException {
    try {
      ChannelEnd.run(kind, address, System.in, System.out);
      return 0;
    } catch (IOException | RuntimeException e) {
      throw new CommandException("bench channel: " + kind + ": " + e.getMessage(), e);
    }
  }
}
