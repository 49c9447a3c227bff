package io.orbitkv.cli;

import io.orbitkv.adapter.ManagerClient;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the state of a Manager. */
@Command(
    name = "stat",
    description = "Shows the state of a Manager.",
    mixinStandardHelpOptions = true)
final class StatCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private SocketOption manager = new SocketOption();

  @Option(names = "--holds", description = "List what is held, one by one.")
  private boolean holds;

  @Option(names = "--json", description = "Print the Manager's own JSON object.")
  private boolean json;

  private StatCommand() {}

  @Override
  public Integer call() throws CommandException {
    String status;
    try (ManagerClient client = manager.connect()) {
      status = client.status();
    }
    var out = spec.commandLine().getOut();
    if (json) {
      out.println(status);
    } else {
      out.print(StatusText.of(status, holds));
    }
    out.flush();
    return 0;
  }
}
