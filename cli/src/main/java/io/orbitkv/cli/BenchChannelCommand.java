package io.orbitkv.cli;

import io.orbitkv.bench.channel.ChannelClient;
import io.orbitkv.bench.channel.ChannelPlan;
import io.orbitkv.bench.channel.ChannelSetUp;
import io.orbitkv.bench.channel.Placement;
import io.orbitkv.cli.bench.ChannelRun;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command {@code orbitkv bench channel}: how long an engine waits for its Manager, beside other
 * ways to carry 64 bytes to another process and back.
 */
@Command(
    name = "channel",
    description = {
      "Measures round trips of the same-host channel between an engine process and a Manager, in"
          + " turn with a C loop on eventfds, gRPC, a Unix socket and iceoryx2, both processes on"
          + " one core and each on its own, one after the other and one a millisecond.",
      "Prints a table with the ratio to the C loop, and what the processes use when idle. What can"
          + " not be had here (a C compiler, Python, cargo) is left out and named."
    },
    mixinStandardHelpOptions = true)
final class BenchChannelCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--clients",
      paramLabel = "NAME",
      split = ",",
      description =
          "Who is measured: java, python, c-eventfd, grpc-unary, grpc-stream, unix-socket,"
              + " iceoryx2-event, iceoryx2-spin. Default: all.")
  private List<String> clients = List.of();

  @Option(
      names = "--placements",
      paramLabel = "NAME",
      split = ",",
      description = "Where both processes run: one-core, two-cores. Default: both.")
  private List<String> placements = List.of();

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "1",
      description = "How long a measurement takes. Default: ${DEFAULT-VALUE}.")
  private double seconds;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "How often all are measured; medians are shown. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--idle-seconds",
      paramLabel = "S",
      defaultValue = "10",
      description = "How long all are left alone afterwards. Default: ${DEFAULT-VALUE}.")
  private double idleSeconds;

  @Option(names = "--json", description = "Print one JSON list of rows.")
  private boolean json;

  private BenchChannelCommand() {}

  @Override
  public Integer call() throws CommandException, InterruptedException {
    ChannelPlan plan = plan();
    try (BenchManager manager = BenchManager.start()) {
      ChannelSetUp setUp =
          new ChannelSetUp(
              BenchChannelCommand::end,
              manager.socket(),
              manager.pid(),
              python(),
              manager.directory());
      if (!new ChannelRun(plan, json, spec.commandLine().getOut()).run(setUp)) {
        throw new CommandException(
            "bench channel: nothing could be measured; the lines above say why");
      }
    }
    return 0;
  }

  private ChannelPlan plan() {
    if (!(seconds >= 0.01 && seconds <= 3600)
        || !(idleSeconds >= 0.01 && idleSeconds <= 3600)
        || rounds < 1) {
      throw new ParameterException(
          spec.commandLine(), "--seconds and --idle-seconds take 0.01 to 3600, --rounds 1 or more");
    }
    return new ChannelPlan(
        named("--clients", clients, ChannelClient.values()),
        named("--placements", placements, Placement.values()),
        rounds,
        seconds,
        idleSeconds);
  }

  private <T> List<T> named(String option, List<String> names, T[] known) {
    if (names.isEmpty()) {
      return List.of(known);
    }
    List<T> found = new ArrayList<>();
    for (String name : names) {
      T value =
          Arrays.stream(known)
              .filter(one -> one.toString().equals(name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new ParameterException(
                          spec.commandLine(),
                          option
                              + " "
                              + name
                              + ": there is none; choose from "
                              + Arrays.toString(known)));
      if (!found.contains(value)) {
        found.add(value);
      }
    }
    return found;
  }

  private static List<String> end(List<String> kindAndAddress) {
    List<String> command = new ArrayList<>(ManagerProcess.launcher());
    command.addAll(List.of("bench", "channel-end"));
    command.addAll(kindAndAddress);
    return ManagerProcess.endingWithThis(command);
  }

  /** Beside an installed command, and in the source tree of a built one. */
  private static List<Path> python() {
    String home = System.getProperty("orbitkv.home");
    return home == null
        ? List.of()
        : List.of(
            Path.of(home, "python"), Path.of(home).resolve("../../../adapter/python").normalize());
  }
}
