package io.orbitkv.manager.membership;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.TransportException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * One Manager's file in the registry, locked by its process from before it is seen until the
 * process exits or takes it back.
 */
final class RegistryEntry {
  private static final int VERSION = 1;
  private static final int MAX_BYTES = 4_096;
  private static final String SUFFIX = ".json";
  private static final String UNFINISHED = ".tmp";
  // Long enough that nobody is between making a file and locking it.
  private static final long UNFINISHED_SECONDS = 60;

  /**
   * Entries of this process: closing any channel to such a file would drop the process' lock on it,
   * so they are never opened a second time.
   */
  private static final Map<Path, RegistryEntry> OWN = new ConcurrentHashMap<>();

  private final Path file;
  private final Member member;
  private final FileChannel locked;

  private RegistryEntry(Path file, Member member, FileChannel locked) {
    this.file = file;
    this.member = member;
    this.locked = locked;
  }

  /** What a file says. Gson sets the fields; those of a newer version are skipped. */
  private record Content(int version, @Nullable String control, @Nullable String epoch, long pid) {}

  /**
   * Writes and locks this Manager's file.
   *
   * @param directory real path
   */
  static RegistryEntry create(Path directory, Member self) throws IOException {
    Path file = directory.resolve(self.managerEpoch() + SUFFIX);
    Path unfinished = directory.resolve(self.managerEpoch() + UNFINISHED);
    String json =
        new Gson()
            .toJson(
                new Content(
                    VERSION,
                    self.controlAddress(),
                    self.managerEpoch(),
                    ProcessHandle.current().pid()));
    FileChannel channel =
        FileChannel.open(
            unfinished,
            EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    RegistryEntry entry = new RegistryEntry(file, self, channel);
    try {
      if (channel.tryLock() == null) {
        throw new IOException(unfinished + " is locked by another process");
      }
      ByteBuffer bytes = StandardCharsets.UTF_8.encode(json);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      OWN.put(file, entry);
      Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
      return entry;
    } catch (IOException | RuntimeException e) {
      OWN.remove(file, entry);
      Files.deleteIfExists(unfinished);
      channel.close();
      throw e;
    }
  }

  /** Whether it is a Manager's file, finished or left behind unfinished. */
  static boolean isEntry(Path file) throws IOException {
    String name = file.toString();
    if (name.endsWith(UNFINISHED)) {
      Instant before = Instant.now().minusSeconds(UNFINISHED_SECONDS);
      try {
        return Files.getLastModifiedTime(file).toInstant().isBefore(before);
      } catch (NoSuchFileException e) {
        // Its Manager has just given it its name.
        return false;
      }
    }
    return name.endsWith(SUFFIX);
  }

  /**
   * Reads another Manager's file, and removes it if that Manager is dead.
   *
   * @return empty if it is dead, or the file says nothing of use
   */
  static Optional<Member> read(Path file) throws IOException {
    RegistryEntry own = OWN.get(file);
    if (own != null) {
      return Optional.of(own.member);
    }
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      FileLock free = channel.tryLock();
      if (free != null) {
        // Under the lock, so nobody else takes it for alive meanwhile; epochs never come back.
        Files.deleteIfExists(file);
        return Optional.empty();
      }
      ByteBuffer bytes = ByteBuffer.allocate(MAX_BYTES);
      while (bytes.hasRemaining() && channel.read(bytes) >= 0) {}
      return parse(StandardCharsets.UTF_8.decode(bytes.flip()).toString());
    } catch (NoSuchFileException | OverlappingFileLockException e) {
      return Optional.empty();
    }
  }

  private static Optional<Member> parse(String json) {
    try {
      Content content = new Gson().fromJson(json, Content.class);
      if (content == null || content.control() == null || content.epoch() == null) {
        return Optional.empty();
      }
      return Optional.of(
          new Member(
              ControlAddress.parse(content.control()).toString(),
              Epoch.parse(content.epoch()).toString()));
    } catch (JsonParseException | IllegalArgumentException | TransportException e) {
      return Optional.empty();
    }
  }

  boolean isThere() {
    return Files.exists(file);
  }

  /** Takes the file back. */
  void remove() throws IOException {
    try (locked) {
      Files.deleteIfExists(file);
    } finally {
      OWN.remove(file, this);
    }
  }
}
