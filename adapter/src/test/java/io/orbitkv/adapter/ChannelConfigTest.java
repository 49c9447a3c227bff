package io.orbitkv.adapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file of an isolated domain: what is in it, and everything that refuses it in one line. */
final class ChannelConfigTest {
  private Path directory;
  private Path folder;
  private Path socket;
  private Path file;

  @BeforeEach
  void make(@TempDir Path temporary) throws IOException {
    directory = temporary.toRealPath();
    folder = Files.createDirectory(directory.resolve("run"));
    socket = folder.resolve("m.sock");
    file = directory.resolve("a.channel");
  }

  private ChannelConfig read(String text) throws IOException {
    return ChannelConfig.read(Files.writeString(file, text).toString());
  }

  private static void refused(ThrowingCallable call, String... words) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.INVALID))
        .hasMessageContainingAll(words)
        .message()
        .hasLineCount(1)
        .contains("; ");
  }

  @Test
  void allThatItMaySay() throws IOException {
    Path registry = Files.createDirectory(directory.resolve("registry"));
    ChannelConfig config =
        read(
            "# a domain\n\n socket = %s\nmanager-uid=1001\r\ninstance=engine 7\n".formatted(socket)
                + "registry-directory="
                + registry);
    assertThat(config.file()).isEqualTo(file);
    assertThat(config.socket()).isEqualTo(socket);
    assertThat(config.managerUid()).hasValue(1001);
    assertThat(config.instance()).contains("engine 7");
    assertThat(config.registryDirectory()).contains(registry);
    config.check(socket);
  }

  @Test
  void theSocketAloneIsEnough() throws IOException {
    ChannelConfig config = read("socket=" + socket);
    assertThat(config.managerUid()).isEmpty();
    assertThat(config.instance()).isEmpty();
    assertThat(config.registryDirectory()).isEmpty();
  }

  // Guard: ChannelConfigText.values and .parse.
  @Test
  void linesThatItDoesNotKnowAreRefused() {
    refused(() -> read("socket=" + socket + "\nsokcet=x"), file + ":2", "sokcet", "manager-uid");
    refused(() -> read("socket=" + socket + "\nnothing"), file + ":2", "nothing");
    refused(() -> read("socket=%s\nsocket=%s".formatted(socket, socket)), file + ":2", "twice");
    refused(() -> read("# nothing\n"), file.toString(), "names no socket");
    refused(() -> read("socket=" + socket + "\nmanager-uid=root"), "manager-uid=root");
    refused(() -> read("socket=" + socket + "\nmanager-uid=9999999999"), "manager-uid");
    refused(() -> read("socket=" + socket + "\ninstance="), "instance");
    refused(() -> read("socket=" + socket + "\ninstance=" + "x".repeat(65)), "instance", "64");
    refused(() -> read("socket=" + folder.resolve("x".repeat(100))), "107");
  }

  // Guard: ChannelConfig.path.
  @Test
  void pathsAreAbsoluteAndPlain() throws IOException {
    Files.writeString(file, "socket=" + socket);
    refused(() -> ChannelConfig.read("a.channel"), "a.channel", "absolute");
    refused(() -> ChannelConfig.read(directory + "/./a.channel"), "absolute");
    refused(() -> ChannelConfig.read(directory + "/run/../a.channel"), "absolute");
    refused(() -> ChannelConfig.read(directory + "//a.channel"), "absolute");
    refused(() -> read("socket=m.sock"), "m.sock", "absolute");
    refused(() -> read("socket=" + folder + "/../m.sock"), "absolute");
    refused(() -> read("socket=" + socket + "\nregistry-directory=run"), "absolute");
    refused(() -> read("socket=/"), "socket");
  }

  // Guard: MAX_BYTES in ChannelConfig.read; the decoder's report in ChannelConfigText.decoded.
  @Test
  void aFileTooLongOrOfOtherBytesIsRefused() throws IOException {
    String first = "socket=" + socket + "\n#";
    int most = ChannelConfig.MAX_BYTES - first.getBytes(StandardCharsets.UTF_8).length;
    assertThat(read(first + "x".repeat(most)).socket()).isEqualTo(socket);
    refused(() -> read(first + "x".repeat(most + 1)), file.toString(), "65536");
    Files.write(file, new byte[] {'#', (byte) 0xff, (byte) 0xfe});
    refused(() -> ChannelConfig.read(file.toString()), file.toString(), "UTF-8");
  }

  // Guard: PathIdentity.look refusing symlinks, and the kinds in read and folder.
  @Test
  void nothingInThePathsIsASymlinkAndEverythingIsThere() throws IOException {
    refused(() -> ChannelConfig.read(directory.resolve("none").toString()), "none");
    refused(() -> ChannelConfig.read(folder.toString()), folder.toString(), "regular file");
    Files.writeString(file, "socket=" + socket);
    Path linked = Files.createSymbolicLink(directory.resolve("linked"), file);
    refused(() -> ChannelConfig.read(linked.toString()), linked.toString(), "symlink");
    Path around = Files.createSymbolicLink(directory.resolve("around"), directory);
    refused(
        () -> ChannelConfig.read(around.resolve("a.channel").toString()),
        around.toString(),
        "symlink");
    Path other = Files.createSymbolicLink(directory.resolve("other"), folder);
    refused(() -> read("socket=" + other.resolve("m.sock")), other.toString(), "symlink");
    refused(
        () -> read("socket=%s\nregistry-directory=%s".formatted(socket, other)),
        other.toString(),
        "symlink");
    refused(() -> read("socket=" + directory.resolve("missing/m.sock")), "missing", "make it");
    refused(() -> read("socket=" + file + "/m.sock"), file.toString());
    refused(
        () -> read("socket=%s\nregistry-directory=%s".formatted(socket, file)), "is not a folder");
  }

  // Guard: the comparison in ChannelConfig.check.
  @Test
  void anotherSocketIsRefusedNamingBoth() throws IOException {
    ChannelConfig config = read("socket=" + socket);
    Path other = folder.resolve("other.sock");
    refused(() -> config.check(other), other.toString(), socket.toString(), file.toString());
  }

  // Guard: PathIdentity.check.
  @Test
  void aFolderThatIsNotTheSameAnyMoreIsRefused() throws IOException {
    Path registry = Files.createDirectory(directory.resolve("registry"));
    ChannelConfig config = read("socket=%s\nregistry-directory=%s".formatted(socket, registry));
    config.check(socket);
    Path moved = Files.move(folder, directory.resolve("moved"));
    refused(() -> config.check(socket), folder.toString());
    Files.createDirectory(folder);
    refused(() -> config.check(socket), folder.toString(), "is not what it was");
    Files.delete(folder);
    Files.createSymbolicLink(folder, moved);
    refused(() -> config.check(socket), folder.toString(), "symlink");
    Files.delete(folder);
    Files.move(moved, folder);
    config.check(socket);
    Files.move(registry, directory.resolve("gone"));
    Files.createDirectory(registry);
    refused(() -> config.check(socket), registry.toString(), "is not what it was");
  }

  // Guard: isSymbolicLink in ChannelConfig.check.
  @Test
  void aSocketThatIsASymlinkIsRefused() throws IOException {
    ChannelConfig config = read("socket=" + socket);
    Files.createSymbolicLink(socket, folder.resolve("elsewhere.sock"));
    refused(() -> config.check(socket), socket.toString(), "symlink");
  }
}
