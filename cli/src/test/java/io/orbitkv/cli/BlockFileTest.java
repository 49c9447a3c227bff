package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlockFileTest {
  private static final MemorySegment NEW =
      MemorySegment.ofArray("new".getBytes(StandardCharsets.UTF_8));

  @TempDir private Path directory = Path.of("");

  private void assertNothingElse(Path... files) throws IOException {
    try (var all = Files.list(directory)) {
      assertThat(all).containsExactlyInAnyOrder(files);
    }
  }

  @Test
  void aRegularFileIsReplacedAndKeepsItsRights() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "something longer");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));

    BlockFile.at(file).write(NEW);

    assertThat(file).hasContent("new");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-r-----");
    assertNothingElse(file);
  }

  @Test
  void aLinkStaysAndTheFileBehindItIsReplaced() throws Exception {
    Path far = Files.createDirectories(directory.resolve("far/deep"));
    Path file = Files.writeString(far.resolve("file"), "old");
    Path inner = Files.createSymbolicLink(far.resolve("inner"), Path.of("../deep/file"));
    Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("far/deep/inner"));
    Path dangling = Files.createSymbolicLink(directory.resolve("dangling"), Path.of("far/made"));

    BlockFile.at(link).write(NEW);
    BlockFile.at(dangling).write(NEW);

    assertThat(link).isSymbolicLink();
    assertThat(inner).isSymbolicLink();
    assertThat(file).hasContent("new");
    assertThat(dangling).isSymbolicLink();
    assertThat(directory.resolve("far/made")).hasContent("new");
    assertNothingElse(link, dangling, directory.resolve("far"));
  }

  @Test
  void aPipeIsWrittenThroughAndStays() throws Exception {
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    CompletableFuture<String> read =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return Files.readString(pipe);
              } catch (IOException e) {
                return e.toString();
              }
            });

    BlockFile.at(pipe).write(NEW);

    assertThat(read.get(30, TimeUnit.SECONDS)).isEqualTo("new");
    assertThat(Files.exists(pipe)).isTrue();
    assertThat(Files.isRegularFile(pipe)).isFalse();
    assertNothingElse(pipe);
  }

  @Test
  void aDeviceIsWrittenThroughAndItsFaultIsSaid() throws Exception {
    BlockFile.at(Path.of("/dev/null")).write(NEW);

    assertThatThrownBy(() -> BlockFile.at(Path.of("/dev/full")).write(NEW))
        .isInstanceOf(CommandException.class)
        .hasMessageStartingWith("/dev/full: cannot be written (");
    assertThat(Files.isRegularFile(Path.of("/dev/null"))).isFalse();
  }

  @Test
  void whatCanNotBeWrittenIsSaidBeforeAnythingIsRead() throws IOException {
    Path a = Files.createSymbolicLink(directory.resolve("a"), Path.of("b"));
    Files.createSymbolicLink(directory.resolve("b"), a);

    assertThatThrownBy(() -> BlockFile.at(directory))
        .hasMessage(directory + ": is a directory; name a file in it");
    assertThatThrownBy(() -> BlockFile.at(directory.resolve("no/file")))
        .hasMessageContaining(directory.resolve("no") + " does not exist");
    assertThatThrownBy(() -> BlockFile.at(a)).hasMessageContaining("ring of symbolic links");
    CommandRun run = CommandRun.of("get", "k", directory.toString(), "--socket", "/no/such/socket");
    assertThat(run.err())
        .isEqualTo("orbitkv: " + directory + ": is a directory; name a file in it\n");
    assertThat(run.code()).isEqualTo(1);
  }
}
