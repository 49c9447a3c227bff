package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Frame;
import io.orbitkv.adapter.wire.FrameHeader;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Hello;
import io.orbitkv.adapter.wire.Refusal;
import io.orbitkv.adapter.wire.Welcome;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.EventFd;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.PidFd;
import io.orbitkv.ffm.Protection;
import io.orbitkv.ffm.UnixListener;
import io.orbitkv.ffm.UnixStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who gets a session, who does not, and what they are told. */
final class GreetingTest {
  private final Epoch epoch = Epoch.random();
  private Path directory;
  private Path socket;
  private ReferenceBlocks blocks;
  private LocalServer server;

  @BeforeEach
  void start(@TempDir Path temporary) {
    directory = temporary;
    socket = directory.resolve("m.sock");
    blocks = new ReferenceBlocks(1 << 20);
    server = LocalServer.start(socket, LocalOptions.DEFAULTS, epoch, blocks);
  }

  @AfterEach
  void stop() {
    server.close();
    blocks.close();
  }

  @Test
  void aWelcomeNamesEverythingAndItsArenaCanNotBeWritten() {
    try (Channel channel = new Channel(socket)) {
      Frame answer = channel.hello(new Hello("instance", 2).encode());
      Welcome welcome = Welcome.decode(answer.body());
      assertThat(welcome.version()).isEqualTo(2);
      assertThat(welcome.ring()).isEqualTo(new Welcome.RingOffer(1, 16_912_384));
      assertThat(answer.descriptors()).hasSize(1 + Welcome.SESSION_DESCRIPTORS);
      assertThat(welcome.epoch()).isEqualTo(epoch);
      assertThat(welcome.session()).isNotZero();
      assertThat(welcome.slot()).isZero();
      assertThat(welcome.arenas())
          .containsExactly(new Welcome.ArenaOffer(Welcome.READ_ONLY, 1 << 20));
      Fd arena = answer.descriptors().getFirst();
      // Guard: F_SEAL_FUTURE_WRITE, without which this mapping is made.
      assertThatThrownBy(() -> Mapping.map(arena, 0, 4_096, Protection.READ_WRITE, false))
          .isInstanceOfSatisfying(
              NativeException.class, e -> assertThat(e.errnoName()).isEqualTo("EPERM"));
      answer.discard();
    }
  }

  @Test
  void anotherVersionIsRefusedNamingBoth() {
    try (Channel channel = new Channel(socket)) {
      MemorySegment header = MemorySegment.ofArray(new byte[FrameHeader.BYTES]);
      new FrameHeader(77, FrameKind.HELLO.wire(), 0, FrameHeader.MAGIC, 0, 0, 0, Epoch.NONE)
          .encode(header);
      channel.sendRaw(header.toArray(ValueLayout.JAVA_BYTE));
      Refusal refusal = Channel.refusal(channel.next());
      assertThat(refusal.code()).isEqualTo(FaultCode.UNSUPPORTED);
      assertThat(refusal.text()).contains("77").contains(String.valueOf(Command.VERSION));
      assertThat(channel.ended()).isTrue();
    }
  }

  @Test
  void aClientRefusesAManagerOfAnotherVersionNamingBoth() throws InterruptedException {
    Path other = directory.resolve("other.sock");
    try (UnixListener listener = UnixStream.listen(other, 0600, 1)) {
      Thread manager =
          Thread.ofPlatform()
              .start(
                  () -> {
                    UnixStream stream = listener.accept();
                    if (stream != null) {
                      MemorySegment header =
                          java.lang.foreign.Arena.ofAuto().allocate(FrameHeader.BYTES, 8);
                      new FrameHeader(9, 2, 0, FrameHeader.MAGIC, 0, 0, 0, Epoch.NONE)
                          .encode(header);
                      stream.sendFully(header, 0, FrameHeader.BYTES);
                      stream.close();
                    }
                  });
      assertThatThrownBy(() -> ManagerClient.connect(other, ClientOptions.DEFAULTS))
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.UNSUPPORTED))
          .hasMessageContaining("version 9")
          .hasMessageContaining("this client 2");
      manager.join();
    }
  }

  @Test
  void unknownFieldsAreSkipped() {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    body.writeBytes(new byte[] {99, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3});
    body.writeBytes(new Hello("instance", 2).encode().toArray(ValueLayout.JAVA_BYTE));
    try (Channel channel = new Channel(socket)) {
      Frame answer = channel.hello(MemorySegment.ofArray(body.toByteArray()));
      assertThat(answer.is(FrameKind.WELCOME)).isTrue();
      answer.discard();
    }
  }

  @Test
  void aHelloNeedsThePidFdOfTheProcessThatConnected() throws Exception {
    MemorySegment hello = new Hello("instance", 2).encode();
    try (Channel channel = new Channel(socket)) {
      Refusal refusal = Channel.refusal(channel.call(FrameKind.HELLO, 0, hello));
      assertThat(refusal.code()).isEqualTo(FaultCode.INVALID);
      assertThat(refusal.text()).contains("pidfd");
    }
    try (Channel channel = new Channel(socket);
        EventFd event = EventFd.create()) {
      Refusal refusal = Channel.refusal(channel.call(FrameKind.HELLO, 0, hello, event.fd()));
      assertThat(refusal.text()).contains("not a pidfd");
    }
    Process other = new ProcessBuilder("sleep", "60").start();
    try (Channel channel = new Channel(socket);
        PidFd pidFd = PidFd.open(other.pid())) {
      // Guard: the comparison with SO_PEERCRED, without which another's exit would end the session.
      Refusal refusal = Channel.refusal(channel.call(FrameKind.HELLO, 0, hello, pidFd.fd()));
      assertThat(refusal.code()).isEqualTo(FaultCode.DENIED);
    } finally {
      other.destroyForcibly().waitFor();
    }
    assertThat(server.sessions()).isZero();
  }

  @Test
  void theSessionBeyondTheLimitIsRefusedWithTheReason() {
    List<Channel> channels = new ArrayList<>();
    try {
      for (int i = 0; i < 64; i++) {
        channels.add(Channel.open(socket));
      }
      assertThat(channels)
          .extracting(channel -> channel.welcome().slot())
          .doesNotHaveDuplicates()
          .allMatch(slot -> slot < 64);
      assertThatThrownBy(() -> ManagerClient.connect(socket, ClientOptions.DEFAULTS))
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.EXHAUSTED))
          .hasMessageContaining("64 sessions");
      channels.removeLast().close();
      Channel.await("a slot is free", () -> server.sessions() == 63);
      ManagerClient.connect(socket, ClientOptions.DEFAULTS).close();
    } finally {
      channels.forEach(Channel::close);
    }
  }

  @Test
  void aConnectionThatSaysNothingIsEnded() throws IOException {
    Path other = directory.resolve("short.sock");
    LocalLimits limits = LocalLimits.DEFAULTS.withHelloMillis(50);
    try (LocalServer quick =
            LocalServer.start(other, LocalOptions.DEFAULTS.withLimits(limits), epoch, blocks);
        Channel silent = new Channel(other);
        Channel dribbling = new Channel(other)) {
      dribbling.sendRaw(new byte[] {1});
      assertThat(Channel.refusal(silent.next()).code()).isEqualTo(FaultCode.DEADLINE);
      assertThat(Channel.refusal(dribbling.next()).code()).isEqualTo(FaultCode.DEADLINE);
      assertThat(quick.sessions()).isZero();
    }
  }

  @Test
  void noManagerIsOneClearLine() throws IOException {
    Path missing = directory.resolve("missing.sock");
    assertThatThrownBy(() -> ManagerClient.connect(missing, ClientOptions.DEFAULTS))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.PEER_LOST))
        .hasMessageContaining(missing.toString())
        .hasMessageContaining("orbitkv manager");
    Path dead = directory.resolve("dead.sock");
    leaveStale(dead);
    assertThatThrownBy(() -> ManagerClient.connect(dead, ClientOptions.DEFAULTS))
        .hasMessageContaining("ECONNREFUSED");
  }

  @Test
  void aSocketOfAnotherUserIsRefused() {
    ClientOptions options = ClientOptions.DEFAULTS.withManagerUid(123_456);
    assertThatThrownBy(() -> ManagerClient.connect(socket, options))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.DENIED))
        .hasMessageContaining("123456");
  }

  @Test
  void theSocketFileIsTheOwnersAndASecondManagerIsRefused() throws IOException {
    assertThat((int) Files.getAttribute(socket, "unix:mode") & 0777).isEqualTo(0600);
    assertThatThrownBy(() -> LocalServer.start(socket, LocalOptions.DEFAULTS, epoch, blocks))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.IN_USE))
        .hasMessageContaining(socket.toString());
    ManagerClient.connect(socket, ClientOptions.DEFAULTS).close();
  }

  @Test
  void aStaleSocketIsReplacedAndAnotherFileIsLeftAlone() throws IOException {
    Path stale = directory.resolve("stale.sock");
    leaveStale(stale);
    try (LocalServer second = LocalServer.start(stale, LocalOptions.DEFAULTS, epoch, blocks)) {
      ManagerClient.connect(second.socketPath(), ClientOptions.DEFAULTS).close();
    }
    assertThat(stale).doesNotExist();
    Path file = Files.writeString(directory.resolve("file"), "mine");
    assertThatThrownBy(() -> LocalServer.start(file, LocalOptions.DEFAULTS, epoch, blocks))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("not a socket");
    assertThat(file).hasContent("mine");
  }

  @Test
  void aPathThatIsTooLongIsRefused() {
    Path longPath = directory.resolve("x".repeat(120));
    assertThatThrownBy(() -> LocalServer.start(longPath, LocalOptions.DEFAULTS, epoch, blocks))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.INVALID))
        .hasMessageContaining("107");
    assertThatThrownBy(() -> ManagerClient.connect(longPath, ClientOptions.DEFAULTS))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.INVALID));
  }

  @Test
  void aServerThatEndsLetsItsClientsKnow() {
    try (ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS)) {
      assertThat(client.connected()).isTrue();
      assertThat(server.stop()).isTrue();
      Channel.await("the client notices", () -> !client.connected());
      assertThatThrownBy(client::status)
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.PEER_LOST));
    }
  }

  /** A socket file that nobody listens on any more, as a killed Manager leaves it. */
  private static void leaveStale(Path path) throws IOException {
    Path kept = path.resolveSibling(path.getFileName() + ".kept");
    UnixListener listener = UnixStream.listen(path, 0600, 1);
    Files.createLink(kept, path);
    listener.close();
    Files.move(kept, path);
  }
}
