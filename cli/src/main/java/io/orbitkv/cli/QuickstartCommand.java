package io.orbitkv.cli;

import com.google.gson.JsonObject;
import io.orbitkv.api.TransportException;
import io.orbitkv.cli.output.Progress;
import io.orbitkv.cli.output.TextTable;
import io.orbitkv.cli.output.Units;
import io.orbitkv.cli.replay.ReplayReport;
import io.orbitkv.cli.replay.ShippedTrace;
import io.orbitkv.cli.replay.TraceRequest;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows two Managers at work on this host. */
@Command(
    name = "quickstart",
    description = {
      "Starts two Managers on this host, replays conversations against both in turn, with blocks"
          + " as long as a real model's, checks every byte and every drain receipt, and stops them.",
      "Ends with 1 if a byte is wrong, a receipt is missing, or an operation failed."
    },
    mixinStandardHelpOptions = true)
final class QuickstartCommand implements Callable<Integer> {
  private static final long ROUNDING = 64L << 20;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--model",
      paramLabel = "NAME",
      defaultValue = "llama-3-8b",
      description = "Whose blocks are moved. Default: ${DEFAULT-VALUE}.")
  private String model = "";

  @Option(
      names = "--requests",
      paramLabel = "N",
      defaultValue = "64",
      description = "How many requests, 1 to 240. Default: ${DEFAULT-VALUE}.")
  private int requests;

  @Option(
      names = "--pool-bytes",
      paramLabel = "SIZE",
      converter = ByteSize.class,
      description = "Size of each Manager's pool. Default: as much as all blocks need.")
  private @Nullable Long poolBytes;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  private QuickstartCommand() {}

  @Override
  public Integer call() throws CommandException, InterruptedException {
    KvShape shape = shape();
    List<TraceRequest> trace = trace();
    long pool = poolBytes == null ? poolFor(trace, shape) : poolBytes;
    if (pool < shape.blockBytes()) {
      throw new ParameterException(
          spec.commandLine(),
          "--pool-bytes "
              + Units.bytes(pool)
              + " has no room for one block of "
              + shape.model()
              + ", "
              + Units.bytes(shape.blockBytes())
              + "; give more");
    }
    say("starting two Managers with a pool of " + Units.bytes(pool) + " each");
    ReplayReport report;
    try (Quickstart quickstart = Quickstart.create()) {
      try {
        quickstart.start(Long.toString(pool));
        try (Progress progress = Progress.onStandardError("replay", trace.size(), " req")) {
          report = quickstart.replay(trace, shape.blockBytes(), progress);
        }
        print(shape, pool, report);
        check(report, Quickstart.movesBlocks(trace));
        quickstart.stop();
      } catch (CommandException | TransportException e) {
        if (quickstart.abandoned()) {
          return ExitCode.SOFTWARE;
        }
        throw new CommandException(e.getMessage() + quickstart.keptLogs(), e);
      }
    }
    say("both Managers have ended");
    return 0;
  }

  private KvShape shape() {
    try {
      return KvShape.named(model);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private List<TraceRequest> trace() {
    List<TraceRequest> all = ShippedTrace.read(Integer.MAX_VALUE);
    if (requests < 1 || requests > all.size()) {
      throw new ParameterException(
          spec.commandLine(),
          "--requests " + requests + " is out of range; give 1 to " + all.size());
    }
    return all.subList(0, requests);
  }

  // Everything fits into either pool: what is shown is moving blocks, not evicting them.
  private static long poolFor(List<TraceRequest> trace, KvShape shape) {
    long blocks = ShippedTrace.distinctBlocks(trace) * shape.blockBytes();
    return (blocks + blocks / 16 + ROUNDING - 1) / ROUNDING * ROUNDING + ROUNDING;
  }

  private void print(KvShape shape, long pool, ReplayReport report) {
    var out = spec.commandLine().getOut();
    if (json) {
      JsonObject object = new JsonObject();
      object.addProperty("model", shape.model());
      object.addProperty("block_bytes", shape.blockBytes());
      object.addProperty("pool_bytes", pool);
      report.toJson().asMap().forEach(object::add);
      out.println(object);
    } else {
      out.print(
          new TextTable()
              .row("model", shape.model())
              .row("block", Units.bytes(shape.blockBytes()) + " = " + shape.arithmetic())
              .row("Managers", "2, pool of " + Units.bytes(pool) + " each")
              .render());
      out.println();
      out.print(report.toTable());
    }
    out.flush();
  }

  private static void check(ReplayReport report, boolean moves) throws CommandException {
    Verdict.check(report);
    Verdict.checkFailures(report);
    if (!moves) {
      say("these few requests need no block of the other Manager; more --requests show that");
    } else if (report.peer().blocks() == 0) {
      throw new CommandException(
          "no block came from the other Manager, so nothing was shown of moving blocks");
    }
  }

  private static void say(String text) {
    System.err.println("quickstart: " + text);
  }
}
