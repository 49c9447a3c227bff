package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Two processes, real kernel. */
@ExtendWith(OpenDescriptors.class)
class ProcessesTest {
  private static final long BYTES = 1 << 20;
  private static final String NO_FLAG = "-Xshare:auto";

  @TempDir Path directory = Path.of("/");

  @Test
  void memoryEventsAndIdentityCrossTheSocket() throws Exception {
    Path path = directory.resolve("s");
    try (UnixListener listener = UnixStream.listen(path, 0600, 4);
        Fd sealed = Memfd.create("ffm-test", BYTES);
        Fd open = Memfd.create("ffm-test", BYTES);
        Mapping out = Mapping.map(sealed, 0, BYTES, Protection.READ_WRITE, true);
        Mapping in = Mapping.map(open, 0, BYTES, Protection.READ_WRITE, true);
        EventFd event = EventFd.create();
        Arena arena = Arena.ofConfined()) {
      Memfd.addSeals(sealed, Memfd.F_SEAL_SHRINK | Memfd.F_SEAL_GROW | Memfd.F_SEAL_FUTURE_WRITE);
      Process child = PeerProcess.start(List.of(), NO_FLAG, "share", path.toString());
      MemorySegment bytes = arena.allocate(16);
      List<Fd> got = new ArrayList<>();
      try (UnixStream stream = Eventually.present(listener.accept())) {
        PeerCredentials peer = stream.peerCredentials();
        assertThat((long) peer.pid()).isEqualTo(child.pid());
        assertThat(peer.uid()).isEqualTo(UnixStream.currentUid());
        assertThat(stream.receive(bytes, 0, 16, got)).isEqualTo(1);
        assertThat(got).hasSize(1);
        try (PidFd process = PidFd.adopt(got.get(0))) {
          assertThat(process.pid()).isEqualTo(child.pid());
          stream
              .peerPidFd()
              .ifPresent(
                  same -> {
                    assertThat(same.pid()).isEqualTo(child.pid());
                    same.close();
                  });
          out.segment().set(JAVA_LONG, 8, PeerProcess.PATTERN);
          stream.sendFully(bytes, 0, 16, sealed, open, event.fd());
          assertThat(Futex.await(in.segment(), 64, 0, Eventually.LIMIT_NANOS))
              .isNotEqualTo(Futex.Result.TIMED_OUT);
          assertThat(event.awaitSignal(Eventually.LIMIT_NANOS)).isTrue();
          assertThat(event.tryConsume()).isEqualTo(1);
          assertThat(in.segment().get(JAVA_LONG, 8)).isEqualTo(~PeerProcess.PATTERN);
          assertThat(process.hasExited()).isFalse();
          stream.sendFully(bytes, 0, 1);
          assertThat(process.awaitExit(Eventually.LIMIT_NANOS)).isTrue();
          assertThat(process.hasExited()).isTrue();
          assertThat(child.waitFor()).isEqualTo(PeerProcess.RIGHT);
          assertThat(process.pid()).isEqualTo(-1);
        }
        assertThat(stream.receive(bytes, 0, 16, got)).isZero();
      }
    }
  }

  @Test
  void killedProcessIsSeenToExit() throws Exception {
    Path path = directory.resolve("s");
    try (UnixListener listener = UnixStream.listen(path, 0600, 4);
        Arena arena = Arena.ofConfined()) {
      Process child = PeerProcess.start(List.of(), NO_FLAG, "share", path.toString());
      try (UnixStream stream = Eventually.present(listener.accept());
          PidFd process = PidFd.open(child.pid())) {
        List<Fd> got = new ArrayList<>();
        assertThat(stream.receive(arena.allocate(1), 0, 1, got)).isEqualTo(1);
        got.forEach(Fd::close);
        BlockingCall<Boolean> waiter = new BlockingCall<>(() -> process.awaitExit(-1));
        assertThat(process.awaitExit(0)).isFalse();
        child.destroyForcibly();
        assertThat(waiter.result()).isTrue();
        assertThat(child.waitFor()).isEqualTo(137);
      }
    }
  }

  @Test
  void descriptorsWithoutRoomAreAnErrorAndClosed() throws Exception {
    Path path = directory.resolve("s");
    try (UnixListener listener = UnixStream.listen(path, 0600, 4);
        EventFd event = EventFd.create();
        Arena arena = Arena.ofConfined()) {
      List<String> limited = List.of("/bin/sh", "-c", "ulimit -n 64; exec \"$@\"", "sh");
      Process child = PeerProcess.start(limited, "-XX:-MaxFDLimit", "exhaust", path.toString());
      try (UnixStream stream = Eventually.present(listener.accept())) {
        Fd[] four = {event.fd(), event.fd(), event.fd(), event.fd()};
        stream.sendFully(arena.allocate(16), 0, 16, four);
        assertThat(child.waitFor()).isEqualTo(PeerProcess.RIGHT);
      }
    }
  }

  @Test
  void refusedLockSaysWhyAndHow() throws Exception {
    Path tool = Path.of("/usr/bin/setpriv");
    List<String> prefix =
        new ArrayList<>(List.of("/bin/sh", "-c", "ulimit -l 64; exec \"$@\"", "sh"));
    if (UnixStream.currentUid() == 0) {
      Assumptions.assumeTrue(Files.isExecutable(tool), "root locks what it likes without setpriv");
      prefix.addAll(List.of(tool.toString(), "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"));
    }
    Process child = PeerProcess.start(prefix, NO_FLAG, "lock");
    assertThat(child.waitFor()).isEqualTo(PeerProcess.RIGHT);
  }
}
