package io.orbitkv.cli;

import com.google.gson.JsonObject;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.PublishOptions;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.cli.output.Progress;
import io.orbitkv.cli.output.Terminal;
import io.orbitkv.cli.output.Units;
import io.orbitkv.cli.replay.Reason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Publishes a file as one block. */
@Command(
    name = "put",
    description = "Publishes a file as one block.",
    mixinStandardHelpOptions = true)
final class PutCommand implements Callable<Integer> {
  private static final int CHUNK_BYTES = 32 << 20;
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private SocketOption manager = new SocketOption();
  @Mixin private KeyOptions block = new KeyOptions();

  @Parameters(index = "1", paramLabel = "FILE", description = "What is published; not empty.")
  private Path file = Path.of("");

  @Option(
      names = "--digest",
      description =
          "Have a digest (CRC32C) taken, which Managers check that fetch the block. A block that is"
              + " present without one gets none.")
  private boolean digest;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  private PutCommand() {}

  @Override
  public Integer call() throws CommandException {
    BlockName name = block.name();
    if (!Files.isRegularFile(file)) {
      throw new CommandException(
          file
              + (Files.exists(file) ? ": is not a regular file" : ": no such file")
              + "; give a file with at least one byte");
    }
    try (FileChannel bytes = FileChannel.open(file)) {
      long length = bytes.size();
      if (length == 0) {
        throw new CommandException(
            file + ": is empty, and a block has at least one byte; give another file");
      }
      try (ManagerClient client = manager.connect()) {
        // Before the file is read into memory: the Manager itself would say so only after.
        ManagerSession.checkFits(client, file.toString(), length);
        try (RegisteredMemory memory = client.allocate(length)) {
          fill(memory.segment(), bytes, length);
          PublishOptions options = PublishOptions.DEFAULTS.withDigest(digest);
          report(
              client.publish(List.of(Piece.of(name, memory)), options, TIMEOUT).getFirst(), length);
        }
      }
    } catch (IOException e) {
      throw new CommandException(
          file + ": cannot be read (" + e.getMessage() + "); check its rights", e);
    }
    return 0;
  }

  private void fill(MemorySegment memory, FileChannel bytes, long length)
      throws IOException, CommandException {
    try (Progress progress = progress(length)) {
      for (long at = 0; at < length; ) {
        long most = Math.min(CHUNK_BYTES, length - at);
        ByteBuffer chunk = memory.asSlice(at, most).asByteBuffer();
        int read = bytes.read(chunk, at);
        if (read < 0) {
          throw new CommandException(
              file + ": became shorter while it was read; try again when nobody writes it");
        }
        at += read;
        progress.step(read);
      }
    }
  }

  private static Progress progress(long length) {
    return Terminal.onStandardError() && length > 8L * CHUNK_BYTES
        ? Progress.onStandardError("reading", length, " B")
        : Progress.silent();
  }

  private void report(PublishResult result, long length) throws CommandException {
    if (result.status() == PublishResult.Status.FAULT) {
      throw new CommandException(
          block.key() + ": was not stored: " + result.code() + ": " + Reason.of(result));
    }
    boolean stored = result.status() == PublishResult.Status.STORED;
    var out = spec.commandLine().getOut();
    if (json) {
      JsonObject object = new JsonObject();
      object.addProperty("key", block.key());
      object.addProperty("block", result.name().toString());
      object.addProperty("bytes", length);
      object.addProperty("status", stored ? "stored" : "present");
      out.println(object);
    } else {
      out.println(
          stored
              ? block.key() + ": stored, " + Units.bytes(length)
              : block.key() + ": present already, nothing was copied (a block never changes)");
    }
    out.flush();
  }
}
