package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(OpenDescriptors.class)
class UnixStreamTest {
  private static final int LARGE = 1 << 20;

  /** The JDK keeps a socket for itself from the first close of a channel on. */
  @BeforeAll
  static void letTheJdkOpenItsOwn() throws IOException {
    ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    channel.close();
  }

  @TempDir Path directory = Path.of("/");

  private final Arena arena = Arena.ofShared();

  @AfterEach
  void free() {
    arena.close();
  }

  private record Pair(UnixStream client, UnixStream server) implements AutoCloseable {
    @Override
    public void close() {
      client.close();
      server.close();
    }
  }

  private Pair pair() {
    try (UnixListener listener = UnixStream.listen(directory.resolve("pair"), 0600, 4)) {
      UnixStream client = UnixStream.connect(listener.path());
      return new Pair(client, Eventually.present(listener.accept()));
    }
  }

  @Test
  void largeMessageWithDescriptorsArrivesWhole() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    byte[] sent = new byte[LARGE];
    new Random(seed).nextBytes(sent);
    MemorySegment source = arena.allocateFrom(JAVA_BYTE, sent);
    MemorySegment target = arena.allocate(LARGE);
    try (Pair pair = pair();
        Fd memory = Memfd.create("ffm-test", 12345)) {
      List<Fd> got = new ArrayList<>();
      BlockingCall<Long> receiver =
          new BlockingCall<>(() -> pair.server.receiveFully(target, 0, LARGE, got));
      pair.client.sendFully(source, 0, LARGE, memory, memory);
      assertThat(receiver.result()).isEqualTo(LARGE);
      assertThat(target.toArray(JAVA_BYTE)).isEqualTo(sent);
      assertThat(got).hasSize(2);
      assertThat(Memfd.size(got.get(1))).isEqualTo(12345);
      got.forEach(Fd::close);
    }
  }

  @Test
  void sixteenDescriptorsPassAndSeventeenAreRefusedBeforeAnyByte() {
    MemorySegment bytes = arena.allocate(8);
    try (Pair pair = pair();
        EventFd event = EventFd.create()) {
      Fd[] many = new Fd[UnixStream.MAX_DESCRIPTORS + 1];
      Arrays.fill(many, event.fd());
      assertThatThrownBy(() -> pair.client.sendFully(bytes, 0, 8, many))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("16");
      pair.client.sendFully(bytes, 0, 3, Arrays.copyOf(many, UnixStream.MAX_DESCRIPTORS));
      List<Fd> got = new ArrayList<>();
      assertThat(pair.server.receive(bytes, 0, 8, got)).isEqualTo(3);
      assertThat(got).hasSize(16);
      got.forEach(Fd::close);
    }
  }

  @Test
  void closedDescriptorIsNotSent() {
    MemorySegment bytes = arena.allocate(8);
    try (Pair pair = pair()) {
      EventFd open = EventFd.create();
      EventFd closed = EventFd.create();
      closed.close();
      assertThatThrownBy(() -> pair.client.sendFully(bytes, 0, 8, open.fd(), closed.fd()))
          .isInstanceOf(IllegalStateException.class);
      open.close();
      pair.client.sendFully(bytes, 0, 1);
      assertThat(pair.server.receive(bytes, 0, 8, new ArrayList<>())).isEqualTo(1);
    }
  }

  @Test
  void sinkThatRefusesLeaksNothing() {
    MemorySegment bytes = arena.allocate(8);
    try (Pair pair = pair();
        EventFd event = EventFd.create()) {
      pair.client.sendFully(bytes, 0, 8, event.fd());
      assertThatThrownBy(() -> pair.server.receive(bytes, 0, 8, List.of()))
          .isInstanceOf(UnsupportedOperationException.class);
    }
  }

  @Test
  void unwantedDescriptorsAreDropped() {
    MemorySegment bytes = arena.allocate(8);
    try (Pair pair = pair();
        EventFd event = EventFd.create()) {
      pair.client.sendFully(bytes, 0, 8, event.fd(), event.fd());
      assertThat(pair.server.receiveFully(bytes, 0, 8)).isEqualTo(8);
    }
  }

  @Test
  void endOfStreamIsZeroAndSendAfterItIsAnError() {
    MemorySegment bytes = arena.allocate(8);
    Pair pair = pair();
    pair.client.sendFully(bytes, 0, 3);
    pair.client.close();
    assertThat(pair.server.receiveFully(bytes, 0, 8, new ArrayList<>())).isEqualTo(3);
    assertThat(pair.server.receive(bytes, 0, 8, new ArrayList<>())).isZero();
    assertThatThrownBy(() -> pair.server.sendFully(bytes, 0, 8))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("EPIPE");
    pair.server.close();
    assertThatThrownBy(pair.server::close).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(pair.server::shutdown).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(pair.server::peerCredentials).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shutdownEndsAStuckReceive() throws Exception {
    MemorySegment bytes = arena.allocate(8);
    try (Pair pair = pair()) {
      int number = pair.server.fd().number();
      BlockingCall<Long> stuck =
          new BlockingCall<>(() -> pair.server.receive(bytes, 0, 8, new ArrayList<>()));
      stuck.awaitInside(number);
      pair.server.shutdown();
      assertThat(stuck.result()).isZero();
    }
  }

  @Test
  void closingTheListenerEndsAccept() throws Exception {
    UnixListener listener = UnixStream.listen(directory.resolve("s"), 0600, 4);
    int number = listener.fd().number();
    BlockingCall<@Nullable UnixStream> stuck = new BlockingCall<>(listener::accept);
    stuck.awaitInside(number);
    listener.close();
    assertThat(stuck.result()).isNull();
    assertThat(listener.accept()).isNull();
    assertThat(directory.resolve("s")).doesNotExist();
    assertThatThrownBy(listener::close).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void modeIsExactWhateverTheUmask() throws Exception {
    for (String mode : List.of("rw-------", "rw-rw----", "rw-rw-rw-")) {
      int bits = 0;
      for (int i = 0; i < 9; i++) {
        bits |= mode.charAt(i) == '-' ? 0 : 1 << (8 - i);
      }
      Path path = directory.resolve("m");
      try (UnixListener listener = UnixStream.listen(path, bits, 4)) {
        assertThat(Files.getPosixFilePermissions(listener.path()))
            .isEqualTo(PosixFilePermissions.fromString(mode));
      }
    }
  }

  @Test
  void longPathIsRefusedWithTheLimit() {
    Path fits = Path.of("/tmp/" + "x".repeat(102));
    Path path = Path.of("/tmp/" + "x".repeat(103));
    assertThatThrownBy(() -> UnixStream.connect(fits))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("ENOENT");
    assertThatThrownBy(() -> UnixStream.connect(path))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("108 bytes, and the kernel's limit is 1 to 107");
    assertThatThrownBy(() -> UnixStream.listen(path, 0600, 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void staleSocketIsReplacedAndALivingOneIsNot() throws Exception {
    Path path = directory.resolve("s");
    try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      dead.bind(UnixDomainSocketAddress.of(path));
    }
    assertThat(path).exists();
    try (UnixListener listener = UnixStream.listen(path, 0600, 4)) {
      assertThatThrownBy(() -> UnixStream.listen(path, 0600, 4))
          .isInstanceOf(NativeException.class)
          .hasMessageContaining("in use by a living listener");
      // The probe of the refused one is in the queue; ours comes after it.
      try (UnixStream probe = Eventually.present(listener.accept());
          UnixStream client = UnixStream.connect(path);
          UnixStream server = Eventually.present(listener.accept())) {
        assertThat(probe.receiveFully(arena.allocate(1), 0, 1)).isZero();
        client.sendFully(arena.allocate(1), 0, 1);
        assertThat(server.receiveFully(arena.allocate(1), 0, 1)).isEqualTo(1);
      }
    }
  }

  @Test
  void whatIsNoSocketIsLeftAlone() throws Exception {
    Path path = directory.resolve("precious");
    Files.writeString(path, "data");
    assertThatThrownBy(() -> UnixStream.listen(path, 0600, 4))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("not a socket");
    assertThat(path).hasContent("data");
  }

  @Test
  void missingDirectoryIsNamed() {
    assertThatThrownBy(() -> UnixStream.listen(directory.resolve("no/s"), 0600, 4))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("open(" + directory.resolve("no"))
        .hasMessageContaining("ENOENT");
  }

  @Test
  void fileOfASuccessorOutlivesItsPredecessor() throws Exception {
    Path path = directory.resolve("s");
    UnixListener first = UnixStream.listen(path, 0600, 4);
    Files.delete(path);
    try (UnixListener second = UnixStream.listen(path, 0600, 4)) {
      first.close();
      UnixStream.connect(second.path()).close();
    }
  }

  @Test
  void ofManyStartersOnAStaleSocketOneWins() throws Exception {
    for (int round = 0; round < 20; round++) {
      Path path = directory.resolve("r" + round);
      try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
        dead.bind(UnixDomainSocketAddress.of(path));
      }
      CyclicBarrier start = new CyclicBarrier(6);
      List<BlockingCall<@Nullable UnixListener>> starters = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        starters.add(
            new BlockingCall<>(
                () -> {
                  start.await();
                  try {
                    return UnixStream.listen(path, 0600, 16);
                  } catch (NativeException e) {
                    assertThat(e).hasMessageContaining("in use");
                    return null;
                  }
                }));
      }
      List<UnixListener> winners = new ArrayList<>();
      for (BlockingCall<@Nullable UnixListener> starter : starters) {
        UnixListener listener = starter.result();
        if (listener != null) {
          winners.add(listener);
        }
      }
      assertThat(winners).hasSize(1);
      UnixStream.connect(path).close();
      winners.getFirst().close();
      assertThat(path).doesNotExist();
    }
  }
}
