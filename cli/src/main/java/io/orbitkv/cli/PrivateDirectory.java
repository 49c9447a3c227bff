package io.orbitkv.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * A directory for temporary files that only this user can enter. Whoever made it removes it, on any
 * thread, when nobody writes there any more.
 *
 * @param path absolute
 */
record PrivateDirectory(Path path) {
  /**
   * Makes one.
   *
   * @param prefix of its name
   * @throws CommandException if there can be none
   */
  static PrivateDirectory make(String prefix) throws CommandException {
    try {
      return new PrivateDirectory(Files.createTempDirectory(prefix).toAbsolutePath());
    } catch (IOException e) {
      throw new CommandException(
          "no temporary directory could be made (" + e.getMessage() + "); set TMPDIR", e);
    }
  }

  /** Removes it with all that is in it. */
  void remove() throws IOException {
    try (Stream<Path> files = Files.walk(path)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (UncheckedIOException e) {
      throw new IOException("while its files were listed: " + e.getMessage(), e);
    }
  }

  /** As {@link #remove}, of a command that ends: what can not be removed is its user's. */
  void removeOrTell() {
    try {
      remove();
    } catch (IOException e) {
      System.err.println("orbitkv: " + path + ": cannot be removed (" + e + "); remove it");
    }
  }
}
