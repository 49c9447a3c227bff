package io.orbitkv.cli;

import com.google.gson.JsonObject;
import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.LeasedBlock;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.cli.output.Terminal;
import io.orbitkv.cli.output.Units;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Reads a block into a file or to standard output. */
@Command(
    name = "get",
    description = "Reads a block, from a peer if need be. Ends with 1 if nobody has it.",
    mixinStandardHelpOptions = true)
final class GetCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private SocketOption manager = new SocketOption();
  @Mixin private KeyOptions block = new KeyOptions();

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "FILE",
      description =
          "A regular file is replaced whole or not at all; a device or a pipe is written to."
              + " Default: standard output.")
  private @Nullable Path file;

  @Option(
      names = "--deadline",
      paramLabel = "SECONDS",
      defaultValue = "30",
      description = "How long to wait for a peer. Default: ${DEFAULT-VALUE}.")
  private double deadlineSeconds;

  @Option(names = "--json", description = "Print one JSON object; needs FILE.")
  private boolean json;

  private GetCommand() {}

  @Override
  public Integer call() throws CommandException {
    if (json && file == null) {
      throw new ParameterException(
          spec.commandLine(), "--json needs FILE, because without it the bytes go to the output");
    }
    BlockName name = block.name();
    @Nullable BlockFile target = file == null ? null : BlockFile.at(file);
    QueryOptions query = QueryOptions.FETCH.withDeadline(deadline());
    try (ManagerClient client = manager.connect();
        BlockLease lease = client.queryAndWait(List.of(name), query)) {
      if (lease.blocks().isEmpty()) {
        throw new CommandException(
            block.key()
                + ": no Manager in reach gave it: none has it, or its owner refused or is ending, or"
                + " --deadline passed; publish it with 'orbitkv put', or see the log of the Manager"
                + " behind "
                + client.socket());
      }
      LeasedBlock found = lease.blocks().getFirst();
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment bytes = arena.allocate(found.bytes(), 64);
        lease.copyTo(found, bytes);
        if (target == null) {
          return writeToStandardOutput(bytes);
        }
        target.write(bytes);
      }
      report(found, target);
    }
    return ExitCode.OK;
  }

  private Duration deadline() {
    try {
      return Seconds.parse("--deadline", deadlineSeconds);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  // Not closed: the end of the process looks at standard output once more.
  private static int writeToStandardOutput(MemorySegment bytes) throws CommandException {
    @SuppressWarnings("resource")
    FileOutputStream output = new FileOutputStream(FileDescriptor.out);
    try {
      BlockFile.write(bytes, output.getChannel());
      return ExitCode.OK;
    } catch (IOException e) {
      if (Terminal.outputIsPipe()) {
        // Whoever closed it wants no more.
        return ExitCode.SOFTWARE;
      }
      throw new CommandException(StandardOutput.LOST + " (" + e.getMessage() + ")", e);
    }
  }

  private void report(LeasedBlock found, BlockFile target) {
    // /dev/stdout is such a device too, and its reader wants the bytes only.
    var out =
        target.writtenThrough() && !json
            ? spec.commandLine().getErr()
            : spec.commandLine().getOut();
    String origin = found.origin().name().toLowerCase(Locale.ROOT);
    if (json) {
      JsonObject object = new JsonObject();
      object.addProperty("key", block.key());
      object.addProperty("block", found.name().toString());
      object.addProperty("bytes", found.bytes());
      object.addProperty("origin", origin);
      object.addProperty("file", target.toString());
      out.println(object);
    } else {
      out.println(
          block.key() + ": " + Units.bytes(found.bytes()) + " from " + origin + " to " + target);
    }
    out.flush();
  }
}
