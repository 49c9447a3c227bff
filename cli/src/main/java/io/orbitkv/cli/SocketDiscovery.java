package io.orbitkv.cli;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Finds the sockets of this user's Managers that answer. */
final class SocketDiscovery {
  /** Where Managers put their sockets unless told otherwise. */
  static final Path DIRECTORY = Path.of("/tmp");

  private static final String PATTERN = "orbitkv-*.sock";

  private SocketDiscovery() {}

  /**
   * The only live socket in a directory.
   *
   * @throws CommandException if there is none, or several: it names them
   */
  static Path only(Path directory) throws CommandException {
    List<Path> live = all(directory);
    if (live.size() == 1) {
      return live.getFirst();
    }
    throw new CommandException(
        live.size()
            + " Managers are running ("
            + String.join(", ", live.stream().map(Path::toString).toList())
            + "); pick one with --socket PATH");
  }

  /**
   * The live sockets in a directory, at least one.
   *
   * @throws CommandException if there is none
   */
  static List<Path> all(Path directory) throws CommandException {
    List<Path> live = live(directory);
    if (live.isEmpty()) {
      throw new CommandException(
          "no running Manager was found ("
              + directory.resolve(PATTERN)
              + "); start one with 'orbitkv manager' or give its socket");
    }
    return live;
  }

  /** The live sockets in a directory that belong to this user, by name. */
  static List<Path> live(Path directory) throws CommandException {
    List<Path> live = new ArrayList<>();
    try (DirectoryStream<Path> candidates = Files.newDirectoryStream(directory, PATTERN)) {
      Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
      for (Path candidate : candidates) {
        if (ownedBy(candidate, user) && answers(candidate)) {
          live.add(candidate);
        }
      }
    } catch (IOException e) {
      throw new CommandException(
          directory + " cannot be searched for Managers (" + e + "); give --socket PATH", e);
    }
    live.sort(null);
    return live;
  }

  private static boolean ownedBy(Path candidate, Object user) {
    try {
      return user.equals(Files.getAttribute(candidate, "unix:uid", LinkOption.NOFOLLOW_LINKS));
    } catch (IOException e) {
      // It went away meanwhile.
      return false;
    }
  }

  private static boolean answers(Path candidate) {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      return channel.connect(UnixDomainSocketAddress.of(candidate));
    } catch (IOException | IllegalArgumentException e) {
      return false;
    }
  }
}
