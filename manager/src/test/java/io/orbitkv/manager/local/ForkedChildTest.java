package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.adapter.RestorePlan;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A child that an engine has forked has its socket and its objects, and can use none of them. */
@Timeout(120)
final class ForkedChildTest {
  private static final BlockName NAME =
      BlockName.of("model", "forked".getBytes(StandardCharsets.UTF_8));

  // Guard: OwnProcess.check. Without it in a use, that one runs into a mapping that the child does
  // not have, and the child ends by a signal.
  @Test
  void everyUseInAForkedChildIsRefusedAndTheParentGoesOn(@TempDir Path directory) throws Exception {
    Path socket = directory.resolve("m.sock");
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer _ = LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks)) {
      Process engine =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "--enable-native-access=ALL-UNNAMED",
                  "-Xint",
                  "-XX:+UseSerialGC",
                  "-XX:-CreateCoredumpOnCrash",
                  "-cp",
                  System.getProperty("java.class.path"),
                  ForkedChildTest.class.getName(),
                  socket.toString())
              .directory(directory.toFile())
              .redirectError(directory.resolve("err").toFile())
              .start();
      try {
        assertThat(engine.inputReader(StandardCharsets.UTF_8).lines().toList())
            .last()
            .as("one bit for each use: 1 if it was refused")
            .isEqualTo("child 255, parent went on");
        assertThat(engine.waitFor(20, TimeUnit.SECONDS)).isTrue();
      } finally {
        engine.destroyForcibly().waitFor();
      }
    }
  }

  /** The engine: {@code SOCKET}. Uses all once before it forks, so that the child loads nothing. */
  public static void main(String[] arguments) throws Throwable {
    try (ManagerClient client =
            ManagerClient.connect(Path.of(arguments[0]), ClientOptions.DEFAULTS);
        RegisteredMemory memory = client.allocate(4_096);
        Arena arena = Arena.ofConfined()) {
      List<Piece> pieces = List.of(Piece.of(NAME, memory));
      var _ = client.publish(pieces, Duration.ofSeconds(20));
      BlockLease lease = client.queryAndWait(List.of(NAME), QueryOptions.LOCAL);
      MemorySegment copy = arena.allocate(4_096);
      promise(client).restore(List.of(copy));
      var _ = promise(client).cancel();
      RestorePlan plan = promise(client);
      List<Runnable> uses = new ArrayList<>();
      uses.add(client::ping);
      uses.add(client::status);
      uses.add(() -> lease.copyTo(lease.blocks().getFirst(), copy));
      uses.add(() -> memory.segment().fill((byte) 1));
      uses.add(() -> client.publish(pieces));
      for (Runnable use : uses) {
        boolean _ = isRefused(use);
      }
      uses.add(() -> plan.restore(List.of(copy)));
      uses.add(plan::cancel);
      uses.add(client::close);
      boolean _ = isRefused(() -> fail());
      int child = TestCalls.fork();
      if (child == 0) {
        int refused = 0;
        for (int i = 0; i < uses.size(); i++) {
          refused |= isRefused(uses.get(i)) ? 1 << i : 0;
        }
        TestCalls.exit(refused);
      }
      int refused = TestCalls.await(child);
      client.ping();
      lease.copyTo(lease.blocks().getFirst(), copy);
      plan.restore(List.of(copy));
      System.out.println("child " + refused + ", parent went on");
      lease.close();
    }
  }

  private static RestorePlan promise(ManagerClient client) {
    return client.plans().promise(List.of(NAME), QueryOptions.LOCAL, 1).orElseThrow();
  }

  private static void fail() {
    throw new TransportException(FaultCode.DENIED, "as in the child");
  }

  private static boolean isRefused(Runnable use) {
    try {
      use.run();
      return false;
    } catch (TransportException e) {
      return e.code() == FaultCode.DENIED;
    }
  }
}
