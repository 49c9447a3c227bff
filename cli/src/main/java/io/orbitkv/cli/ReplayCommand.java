package io.orbitkv.cli;

import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.cli.output.Progress;
import io.orbitkv.cli.replay.Replay;
import io.orbitkv.cli.replay.ReplayOptions;
import io.orbitkv.cli.replay.ReplayReport;
import io.orbitkv.cli.replay.TraceException;
import io.orbitkv.cli.replay.TraceReader;
import io.orbitkv.cli.replay.TraceRequest;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Replays a request trace against running Managers. */
@Command(
    name = "replay",
    description = {
      "Replays a request trace against running Managers and checks every byte that comes back.",
      "The trace has one JSON object a line: timestamp (ms), input_length, output_length, hash_ids"
          + " (one a block), as in the public Mooncake traces. Ends with 1 if a byte is wrong, a"
          + " drain receipt is missing, or operations failed though no Manager was lost."
    },
    mixinStandardHelpOptions = true)
final class ReplayCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(paramLabel = "TRACE", description = "File in JSON lines.")
  private Path trace = Path.of("");

  @Option(
      names = "--managers",
      paramLabel = "SOCKET",
      split = ",",
      description =
          "Sockets of the Managers, used in turn. Default: all running Managers of this user in"
              + " /tmp.")
  private List<Path> managers = List.of();

  @Option(
      names = "--speed",
      paramLabel = "N|max",
      defaultValue = "max",
      description =
          "1 keeps the trace's pace, 10 is ten times as fast, max does not wait. Default:"
              + " ${DEFAULT-VALUE}.")
  private String speed = "";

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "9223372036854775807",
      description = "Replay only the first N requests. Default: all.",
      showDefaultValue = Visibility.NEVER)
  private long limit;

  @Option(
      names = "--block-bytes",
      paramLabel = "SIZE",
      defaultValue = "64KiB",
      converter = ByteSize.class,
      description = "Length of a block. Default: ${DEFAULT-VALUE}.")
  private long blockBytes;

  @Option(
      names = "--namespace",
      paramLabel = "TEXT",
      description =
          "Namespace of the blocks' names. Default: one made of the trace's name, the seed and the block length.")
  private @Nullable String namespace;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of the blocks' bytes. Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Option(
      names = "--deadline",
      paramLabel = "SECONDS",
      defaultValue = "30",
      description = "How long one query or publish may take. Default: ${DEFAULT-VALUE}.")
  private double deadlineSeconds;

  @Option(
      names = "--concurrency",
      paramLabel = "N",
      defaultValue = "1",
      description = "Requests under way at once. Default: ${DEFAULT-VALUE}.")
  private int concurrency;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  private ReplayCommand() {}

  @Override
  public Integer call() throws CommandException, InterruptedException {
    ReplayOptions options = options();
    List<TraceRequest> requests = requests();
    List<Path> sockets =
        managers.isEmpty() ? SocketDiscovery.all(SocketDiscovery.DIRECTORY) : managers;
    for (Path socket : sockets) {
      try (ManagerClient client = ManagerSession.open(socket)) {
        ManagerSession.checkFits(client, "a block of --block-bytes", blockBytes);
      }
    }
    ReplayReport report;
    String stopped;
    boolean steady;
    try (Progress progress = Progress.onStandardError("replay", requests.size(), " req");
        Replay replay = Replay.connect(requests, sockets, options, progress)) {
      report = replay.run();
      stopped = replay.stopped();
      steady = replay.steady();
    }
    var out = spec.commandLine().getOut();
    out.print(json ? report.toJson() + "\n" : report.toTable());
    out.flush();
    if (stopped != null) {
      throw new CommandException(trace + ": " + stopped);
    }
    Verdict.check(report);
    // A Manager that was lost explains what failed, unless nothing went well.
    if (steady || report.hits() + report.published().blocks() + report.present().blocks() == 0) {
      Verdict.checkFailures(report);
    }
    return 0;
  }

  private ReplayOptions options() {
    try {
      KeyOptions.checkDecoded("--namespace", namespace == null ? "" : namespace);
      return new ReplayOptions(
          speed(),
          blockBytes,
          namespace == null ? ReplayOptions.namespaceFor(trace, seed, blockBytes) : namespace,
          seed,
          Seconds.parse("--deadline", deadlineSeconds),
          concurrency);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private double speed() {
    if (speed.equals("max")) {
      return ReplayOptions.MAX_SPEED;
    }
    try {
      return Double.parseDouble(speed);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "--speed '" + speed + "' is not a number; give one above 0, or max", e);
    }
  }

  private List<TraceRequest> requests() throws CommandException {
    if (limit < 1) {
      throw new ParameterException(
          spec.commandLine(), "--limit " + limit + " leaves no request; give at least 1");
    }
    try {
      return TraceReader.read(trace, limit);
    } catch (TraceException e) {
      throw new CommandException(String.valueOf(e.getMessage()), e);
    }
  }
}
