package io.orbitkv.manager.membership;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/** The registry's directory, which may lie where anybody can create one: it must be ours alone. */
final class RegistryDirectory {
  private static final Set<PosixFilePermission> OURS = PosixFilePermissions.fromString("rwx------");

  private RegistryDirectory() {}

  /**
   * Makes it if it is not there.
   *
   * @return its real path
   * @throws TransportException DENIED if it is a link, no directory, another user's, or open to
   *     other users; DEVICE if it can not be made
   */
  static Path open(Path directory) {
    try {
      try {
        Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(OURS));
      } catch (FileAlreadyExistsException e) {
        // Looked at below, like one that was just made.
      }
      if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
        throw denied(directory, "is not a directory");
      }
      Object owner = Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS);
      Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
      if (!owner.equals(user)) {
        throw denied(directory, "belongs to uid " + owner + ", this process to uid " + user);
      }
      Set<PosixFilePermission> others =
          EnumSet.copyOf(Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS));
      others.removeAll(OURS);
      if (!others.isEmpty()) {
        throw new TransportException(
            FaultCode.DENIED,
            "registry directory %s is open to other users (%s): chmod 700 %s, or name another"
                .formatted(directory, others, directory));
      }
      return directory.toRealPath();
    } catch (IOException e) {
      throw new TransportException(
          FaultCode.DEVICE,
          "registry directory %s can not be used: %s; name one that can be made"
              .formatted(directory, e),
          e);
    }
  }

  private static TransportException denied(Path directory, String why) {
    return new TransportException(
        FaultCode.DENIED,
        "registry directory %s %s: remove it, or name another".formatted(directory, why));
  }
}
