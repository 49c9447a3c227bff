package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.api.Epoch;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whether the process at the other end lives, told by its pidfd and by nothing else. */
@Timeout(120)
final class PeerAliveTest {
  // Guard: the pidfd in Connection.managerAlive: by the connection the Manager would count as dead.
  @Test
  void aManagerThatClosedTheSocketIsAlive(@TempDir Path directory) {
    Path socket = directory.resolve("m.sock");
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer server =
            LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks);
        ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS)) {
      assertThat(server.stop()).isTrue();
      Channel.await("the client sees the end of its connection", () -> !client.connected());
      assertThat(client.peerAlive()).isTrue();
    }
  }

  // Guard: PidFd.hasExited in the same: without it a dead Manager stays alive.
  @Test
  void aManagerIsDeadAtOnceAndOneThatStandsStillIsAlive(@TempDir Path directory) throws Exception {
    Path socket = directory.resolve("m.sock");
    Process manager = EngineMain.start("manager", socket);
    try {
      EngineMain.awaitLine(manager, "ready");
      try (ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS)) {
        EngineMain.signal(manager, "-STOP");
        assertThat(client.peerAlive()).isTrue();
        assertThat(client.connected()).isTrue();
        manager.destroyForcibly();
        assertThat(manager.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(client.peerAlive()).isFalse();
      }
    } finally {
      manager.destroyForcibly().waitFor();
    }
  }

  // Guard: the pidfd in Sessions.processAlive: by the state of the session this engine, which has
  // closed its client and keeps a lease, would count as dead.
  @Test
  void anEngineIsAliveWithoutItsSocketAndDeadWithItsProcess(@TempDir Path directory)
      throws Exception {
    Path socket = directory.resolve("m.sock");
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer server =
            LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks)) {
      BlockName name = BlockName.of("m", new byte[] {1});
      var _ = blocks.publish(name, MemorySegment.ofArray(new byte[100]), false);
      try (Channel channel = Channel.open(socket);
          ManagerClient other = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
          BlockLease _ = other.queryAndWait(List.of(name), QueryOptions.LOCAL)) {
        long session = channel.welcome().session();
        assertThat(server.peerAlive(session)).isTrue();
        assertThat(server.peerAlive(other.session())).isTrue();
        assertThat(server.peerAlive(session + 1)).isFalse();
      }
      Process engine = EngineMain.start("socketless", socket);
      try {
        long session = Long.parseLong(EngineMain.firstLine(engine));
        Channel.await("its connection has ended", () -> server.connections() == 0);
        assertThat(server.sessions()).isEqualTo(1);
        assertThat(server.peerAlive(session)).isTrue();
        engine.destroyForcibly();
        assertThat(engine.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(server.peerAlive(session)).isFalse();
        Channel.await("what it held has ended", () -> server.sessions() == 0);
      } finally {
        engine.destroyForcibly().waitFor();
      }
    }
  }
}
