package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.QueryOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** No request is lost, whoever wants the processors. */
final class BusyCoresTest {
  private static final int IN_FLIGHT = 32;

  // Guard: the wake of RequestRing for a Manager that sleeps. Without it each request takes the
  // second after which its own client wakes the Manager.
  @Test
  @Timeout(120)
  void tenThousandRequestsUnderABusyThreadPerCore(@TempDir Path directory) throws Exception {
    busy(directory, 10_000);
  }

  @Test
  @Tag("slow")
  @Timeout(560)
  void aHundredThousandRequestsUnderABusyThreadPerCore(@TempDir Path directory) throws Exception {
    busy(directory, 100_000);
  }

  @Test
  @Tag("slow")
  @Timeout(1_800)
  void tenMillionQuietRequests(@TempDir Path directory) throws Exception {
    with(
        directory,
        client -> {
          for (int i = 0; i < 10_000_000; i++) {
            client.ping(); // throws if it was not answered
          }
        });
  }

  /** Half of them one after another, which are timed, half of them many at once. */
  private static void busy(Path directory, int requests) throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    List<Thread> hogs = new ArrayList<>();
    for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
      hogs.add(
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    while (!done.get()) {
                      Thread.onSpinWait();
                    }
                  }));
    }
    long[] took = new long[requests / 2];
    try {
      with(
          directory,
          client -> {
            for (int i = 0; i < took.length; i++) {
              long begun = System.nanoTime();
              client.ping();
              took[i] = System.nanoTime() - begun;
            }
            pipelined(client, requests / 2);
          });
    } finally {
      done.set(true);
      for (Thread hog : hogs) {
        hog.join();
      }
    }
    Arrays.sort(took);
    System.out.println(
        "BusyCoresTest, "
            + took.length
            + " pings beside a busy thread per core, us: p50 "
            + took[took.length / 2] / 1_000
            + ", p99.9 "
            + took[(int) (took.length * 0.999)] / 1_000
            + ", worst "
            + took[took.length - 1] / 1_000);
  }

  private static void pipelined(ManagerClient client, int requests) throws Exception {
    List<BlockName> none = List.of(BlockName.of("no", new byte[] {1}));
    List<CompletableFuture<BlockLease>> pending = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      pending.add(client.query(none, QueryOptions.LOCAL));
      if (pending.size() == IN_FLIGHT || i == requests - 1) {
        for (CompletableFuture<BlockLease> query : pending) {
          assertThat(query.get(60, TimeUnit.SECONDS).blocks()).isEmpty();
        }
        pending.clear();
      }
    }
  }

  private interface Use {
    void of(ManagerClient client) throws Exception;
  }

  private static void with(Path directory, Use use) throws Exception {
    Path socket = directory.resolve("m.sock");
    Process manager = EngineMain.start("manager", socket);
    try {
      EngineMain.awaitLine(manager, "ready");
      try (ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS)) {
        use.of(client);
      }
    } finally {
      manager.destroyForcibly().waitFor();
    }
  }
}
