package io.orbitkv.manager.local;

import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.UnixStream;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Assumptions;

/** Runs {@link OtherUserMain} as a user who is not this one. */
final class OtherUser {
  static final int UID = 65_534;
  static final int GID = 65_534;
  static final int SECOND_GROUP = 54_321;

  private OtherUser() {}

  /** Skips the test, saying what is missing, where no second user can be had. */
  static void assume() {
    Assumptions.assumeTrue(
        UnixStream.currentUid() == 0, "a second user needs root, and this process is not root's");
    Assumptions.assumeTrue(
        Stream.of("/usr/bin/setpriv", "/bin/setpriv").anyMatch(name -> new File(name).canExecute()),
        "a second user needs setpriv of util-linux, which is not here");
  }

  /** Opens a folder to everybody, and copies there what the other user needs of the class path. */
  static void prepare(Path directory) throws IOException {
    open(directory);
    Path classes = Files.createDirectory(directory.resolve("classes"));
    open(classes);
    for (Class<?> one :
        List.of(
            ManagerClient.class,
            TransportException.class,
            Fd.class,
            NullMarked.class,
            OtherUser.class)) {
      copy(place(one), classes);
    }
  }

  private static Path place(Class<?> of) {
    try {
      return Path.of(of.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  private static void copy(Path from, Path folder) throws IOException {
    Path to = folder.resolve(String.valueOf(from.hashCode()) + ".jar");
    if (Files.isRegularFile(from)) {
      Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
      return;
    }
    try (Stream<Path> all = Files.walk(from)) {
      for (Path each : all.toList()) {
        Path target = to.resolve(from.relativize(each).toString());
        if (Files.isDirectory(each)) {
          Files.createDirectories(target);
        } else {
          Files.copy(each, target, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  /** Lets everybody look into a folder. */
  static void open(Path directory) throws IOException {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Lets everybody write into a folder. */
  static void openForWriting(Path directory) throws IOException {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
  }

  /**
   * A process of that user.
   *
   * @param prepared the folder that was prepared
   * @param groups what setpriv is told of supplementary groups
   */
  static Process start(Path prepared, String groups, String... arguments) throws IOException {
    List<String> line = new ArrayList<>();
    line.addAll(List.of("setpriv", "--reuid=" + UID, "--regid=" + GID, groups));
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC"));
    line.addAll(List.of("-XX:TieredStopAtLevel=1", "-cp", classPath(prepared)));
    line.add(OtherUserMain.class.getName());
    line.addAll(List.of(arguments));
    return new ProcessBuilder(line)
        .directory(prepared.toFile())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private static String classPath(Path prepared) {
    try (Stream<Path> jars = Files.list(prepared.resolve("classes"))) {
      return String.join(File.pathSeparator, jars.map(Path::toString).toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
