package io.orbitkv.cli;

import com.google.gson.JsonObject;
import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.LeasedBlock;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.cli.output.Units;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
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
  private static final int CHUNK_BYTES = 32 << 20;

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private SocketOption manager = new SocketOption();
  @Mixin private KeyOptions block = new KeyOptions();

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "FILE",
      description = "Written whole or not at all. Default: the bytes go to standard output.")
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
    QueryOptions query = QueryOptions.FETCH.withDeadline(deadline());
    try (ManagerClient client = manager.connect();
        BlockLease lease = client.queryAndWait(List.of(name), query)) {
      if (lease.blocks().isEmpty()) {
        throw new CommandException(
            block.key() + ": is a miss: no Manager in reach has it; 'orbitkv put' it first");
      }
      LeasedBlock found = lease.blocks().getFirst();
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment bytes = arena.allocate(found.bytes(), 64);
        lease.copyTo(found, bytes);
        write(bytes);
      }
      report(found);
    }
    return 0;
  }

  private Duration deadline() {
    try {
      return Seconds.parse("--deadline", deadlineSeconds);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private void write(MemorySegment bytes) throws CommandException {
    Path target = file;
    try {
      if (target == null) {
        try (FileOutputStream output = new FileOutputStream(FileDescriptor.out)) {
          write(bytes, output.getChannel());
        }
      } else {
        replace(target, bytes);
      }
    } catch (IOException e) {
      throw new CommandException(
          (target == null ? "standard output" : target)
              + ": cannot be written ("
              + e
              + "); check its directory's rights and space",
          e);
    }
  }

  private static void replace(Path target, MemorySegment bytes) throws IOException {
    Path directory = target.toAbsolutePath().getParent();
    Path temporary = Files.createTempFile(directory, ".orbitkv-get-", ".part");
    try {
      try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
        write(bytes, channel);
        channel.force(true);
      }
      Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  private static void write(MemorySegment bytes, WritableByteChannel channel) throws IOException {
    for (long at = 0; at < bytes.byteSize(); at += CHUNK_BYTES) {
      var chunk = bytes.asSlice(at, Math.min(CHUNK_BYTES, bytes.byteSize() - at)).asByteBuffer();
      while (chunk.hasRemaining()) {
        channel.write(chunk);
      }
    }
  }

  private void report(LeasedBlock found) {
    if (file == null) {
      return;
    }
    var out = spec.commandLine().getOut();
    String origin = found.origin().name().toLowerCase(Locale.ROOT);
    if (json) {
      JsonObject object = new JsonObject();
      object.addProperty("key", block.key());
      object.addProperty("block", found.name().toString());
      object.addProperty("bytes", found.bytes());
      object.addProperty("origin", origin);
      object.addProperty("file", file.toString());
      out.println(object);
    } else {
      out.println(
          block.key() + ": " + Units.bytes(found.bytes()) + " from " + origin + " to " + file);
    }
    out.flush();
  }
}
