package io.orbitkv.manager.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostRegistryTest {
  private static final int PATIENCE_SECONDS = 20;

  @TempDir Path temporary;

  /** Another Manager: publishes itself, says so, and lives until it is killed. */
  static final class OtherProcess {
    public static void main(String[] args) throws InterruptedException {
      new HostRegistry(Path.of(args[0])).publish(new Member(args[1], args[2]));
      System.out.println("published");
      Thread.sleep(TimeUnit.MINUTES.toMillis(5));
    }
  }

  @Test
  void findsTheOthersAndNoticesAKilledOne() throws Exception {
    Path directory = temporary.resolve("registry");
    Member self = member("127.0.0.1:7401");
    Member killed = member("127.0.0.1:7402");
    BlockingQueue<Set<Member>> told = new LinkedBlockingQueue<>();
    try (HostRegistry registry = new HostRegistry(directory)) {
      registry.watch(told::add);
      registry.publish(self);
      Process other = start(directory, killed);
      try {
        assertThat(next(told)).containsExactly(killed);
        long dead = System.nanoTime();
        other.destroyForcibly();
        assertThat(next(told)).isEmpty();
        System.out.printf(
            "a killed Manager was removed within %d ms%n", (System.nanoTime() - dead) / 1_000_000);
        assertThat(directory.resolve(killed.managerEpoch() + ".json")).doesNotExist();
        assertThat(directory.resolve(self.managerEpoch() + ".json")).exists();
      } finally {
        other.destroyForcibly().waitFor();
      }
    }
    assertThat(directory).isEmptyDirectory();
    assertThat(told).isEmpty();
  }

  @Test
  void registriesOfOneProcessSeeEachOtherAndKeepTheirLocks() throws Exception {
    Path directory = temporary.resolve("registry");
    Member first = member("127.0.0.1:7401");
    Member second = member("[::1]:7402");
    BlockingQueue<Set<Member>> told = new LinkedBlockingQueue<>();
    try (HostRegistry one = new HostRegistry(directory);
        HostRegistry two = new HostRegistry(directory)) {
      one.publish(first);
      two.watch(told::add);
      two.publish(second);
      assertThat(next(told)).containsExactly(first);
      // Another process must still see the locks: it removes what it takes for dead.
      Member witness = member("127.0.0.1:7403");
      Process other = start(directory, witness, "watch");
      try {
        assertThat(next(told)).containsExactlyInAnyOrder(first, witness);
        assertThat(Files.exists(directory.resolve(first.managerEpoch() + ".json"))).isTrue();
        assertThat(Files.exists(directory.resolve(second.managerEpoch() + ".json"))).isTrue();
      } finally {
        other.destroyForcibly().waitFor();
      }
      assertThat(next(told)).containsExactly(first);
      one.withdraw();
      assertThat(next(told)).isEmpty();
      one.withdraw();
    }
  }

  /** As {@link OtherProcess}, and watches until it has seen two others. */
  static final class Witness {
    public static void main(String[] args) throws InterruptedException {
      BlockingQueue<Set<Member>> told = new LinkedBlockingQueue<>();
      HostRegistry registry = new HostRegistry(Path.of(args[0]));
      registry.watch(told::add);
      int others = 0;
      while (others < 2) {
        others = told.take().size();
      }
      registry.publish(new Member(args[1], args[2]));
      System.out.println("published");
      Thread.sleep(TimeUnit.MINUTES.toMillis(5));
    }
  }

  @Test
  void aFileThatWasSweptAwayIsWrittenAgain() throws Exception {
    Path directory = temporary.resolve("registry");
    Member self = member("127.0.0.1:7401");
    BlockingQueue<Set<Member>> told = new LinkedBlockingQueue<>();
    try (HostRegistry registry = new HostRegistry(directory);
        HostRegistry other = new HostRegistry(directory)) {
      registry.watch(members -> {});
      registry.publish(self);
      other.watch(told::add);
      assertThat(next(told)).containsExactly(self);
      Path file = directory.resolve(self.managerEpoch() + ".json");
      Files.delete(file);
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
      while (!Files.exists(file)) {
        assertThat(System.nanoTime()).as("the file to be written again").isLessThan(deadline);
        Thread.onSpinWait();
      }
      // The other one may have looked while it was away, or not.
      Set<Member> gone = told.poll(100, TimeUnit.MILLISECONDS);
      if (gone != null) {
        assertThat(gone.isEmpty() ? next(told) : gone).containsExactly(self);
      }
    }
  }

  @Test
  void foreignFilesAreNoMembers() throws Exception {
    Path directory = temporary.resolve("registry");
    BlockingQueue<Set<Member>> told = new LinkedBlockingQueue<>();
    try (HostRegistry registry = new HostRegistry(directory);
        HostRegistry other = new HostRegistry(directory)) {
      Files.writeString(directory.resolve("notes.txt"), "hello");
      Files.writeString(directory.resolve("dead.json"), "{");
      registry.watch(told::add);
      Member member = member("127.0.0.1:7402");
      other.publish(member);
      assertThat(next(told)).containsExactly(member);
      assertThat(directory.resolve("notes.txt")).exists();
    }
  }

  @Test
  void aLinkIsRefused() throws IOException {
    Path real = Files.createDirectory(temporary.resolve("real"));
    Path link = Files.createSymbolicLink(temporary.resolve("link"), real);
    assertDenied(link, "is not a directory");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rwxr-x---", "rwx-w----", "rwx-----x"})
  void aDirectoryOpenToOthersIsRefused(String mode) throws IOException {
    Path directory = Files.createDirectory(temporary.resolve("open"));
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(mode));
    assertDenied(directory, "is open to other users");
  }

  @Test
  void anotherUsersDirectoryIsRefused() throws IOException {
    Path directory =
        Files.createDirectory(
            temporary.resolve("squatted"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    assumeTrue(
        Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0),
        "only root can give a directory away");
    Files.setAttribute(directory, "unix:uid", 65_534);
    assertDenied(directory, "belongs to uid 65534");
  }

  @Test
  void aMissingParentIsNamed() {
    Path directory = temporary.resolve("no/such");
    assertThatThrownBy(() -> new HostRegistry(directory))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.DEVICE))
        .hasMessageContaining(directory.toString());
  }

  private static void assertDenied(Path directory, String why) {
    assertThatThrownBy(() -> new HostRegistry(directory))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.DENIED))
        .hasMessageContaining(directory.toString())
        .hasMessageContaining(why);
  }

  private static Member member(String address) {
    return new Member(address, Epoch.random().toString());
  }

  private static Process start(Path directory, Member member, String... watch) throws IOException {
    Class<?> main = watch.length > 0 ? Witness.class : OtherProcess.class;
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            main.getName(),
            directory.toString(),
            member.controlAddress(),
            member.managerEpoch())
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private static Set<Member> next(BlockingQueue<Set<Member>> told) throws InterruptedException {
    Set<Member> members = told.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
    assertThat(members).as("told within %d s", PATIENCE_SECONDS).isNotNull();
    return members;
  }
}
