package io.orbitkv.cli;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;

/**
 * The file that a block is written to. A regular file is replaced whole or not at all, also behind
 * a symbolic link, which stays; a device or a pipe is written through.
 */
final class BlockFile {
  private static final int CHUNK_BYTES = 32 << 20;
  private static final int MAX_LINKS = 40;

  private final Path asked;
  private final Path file;
  private final boolean replaced;

  private BlockFile(Path asked, Path file, boolean replaced) {
    this.asked = asked;
    this.file = file;
    this.replaced = replaced;
  }

  /**
   * Looks at what is there; changes nothing.
   *
   * @throws CommandException if nothing can be written there
   */
  static BlockFile at(Path asked) throws CommandException {
    if (Files.isDirectory(asked)) {
      throw new CommandException(asked + ": is a directory; name a file in it");
    }
    if (Files.exists(asked) && !Files.isRegularFile(asked)) {
      return new BlockFile(asked, asked, false);
    }
    Path file = asked.toAbsolutePath();
    try {
      for (int links = 0; Files.isSymbolicLink(file); links++) {
        if (links == MAX_LINKS) {
          throw new CommandException(asked + ": is a ring of symbolic links; name a file");
        }
        if (file.startsWith("/proc")) {
          // An open file of a process, as in /dev/stdout: whoever opened it wants it written.
          return new BlockFile(asked, asked, false);
        }
        file = file.resolveSibling(Files.readSymbolicLink(file)).normalize();
        file = inRealDirectory(file);
      }
    } catch (IOException e) {
      throw unwritable(asked, e);
    }
    Path directory = directoryOf(file);
    if (!Files.isDirectory(directory)) {
      throw new CommandException(
          asked
              + ": "
              + directory
              + (Files.exists(directory) ? " is not a directory" : " does not exist")
              + "; make it, or name another file");
    }
    return new BlockFile(asked, file, true);
  }

  // A link's ".." counts from the directory that the link really is in.
  private static Path inRealDirectory(Path file) throws IOException {
    Path directory = directoryOf(file);
    return Files.exists(directory)
        ? directory.toRealPath().resolve(String.valueOf(file.getFileName()))
        : file;
  }

  private static Path directoryOf(Path file) {
    Path directory = file.getParent();
    return directory == null ? file : directory;
  }

  /** The name that was asked for. */
  @Override
  public String toString() {
    return asked.toString();
  }

  /** Whether bytes go into what is there, as into a device, and not into a new file. */
  boolean writtenThrough() {
    return !replaced;
  }

  /**
   * Writes the bytes.
   *
   * @throws CommandException if it can't be done; a regular file is as it was then
   */
  void write(MemorySegment bytes) throws CommandException {
    try {
      if (replaced) {
        replace(bytes);
      } else {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
          write(bytes, channel);
        }
      }
    } catch (IOException e) {
      throw unwritable(asked, e);
    }
  }

  private void replace(MemorySegment bytes) throws IOException {
    Path temporary = Files.createTempFile(directoryOf(file), ".orbitkv-get-", ".part");
    try {
      if (Files.exists(file)) {
        Set<PosixFilePermission> rights = Files.getPosixFilePermissions(file);
        Files.setPosixFilePermissions(temporary, rights);
      }
      try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
        write(bytes, channel);
        channel.force(true);
      }
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  /**
   * Writes all bytes to a channel, in chunks: a heap of copies is what a large write would cost.
   */
  static void write(MemorySegment bytes, WritableByteChannel channel) throws IOException {
    for (long at = 0; at < bytes.byteSize(); at += CHUNK_BYTES) {
      var chunk = bytes.asSlice(at, Math.min(CHUNK_BYTES, bytes.byteSize() - at)).asByteBuffer();
      while (chunk.hasRemaining()) {
        channel.write(chunk);
      }
    }
  }

  private static CommandException unwritable(Path asked, IOException cause) {
    return new CommandException(
        asked
            + ": cannot be written ("
            + reason(cause)
            + "); check its directory's rights and space",
        cause);
  }

  private static String reason(IOException cause) {
    if (cause instanceof FileSystemException failure && failure.getReason() != null) {
      return failure.getReason();
    }
    if (cause.getClass() == IOException.class && cause.getMessage() != null) {
      return cause.getMessage();
    }
    return cause instanceof NoSuchFileException ? "it does not exist" : String.valueOf(cause);
  }
}
