package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many hostile cases against a Manager in a process of its own, while an honest client of it pings:
 * it lives, answers the honest one every time, keeps its bytes and has its slots back. Guards: the
 * checks in Commands.start, PublishOperation.copy, EngineMemories.find and RingConsumer.take;
 * without the range in copy the Manager's process dies, without the consumer's a session never
 * ends.
 */
final class HostileCasesTest {
  private static final int SLOTS = 60;

  // Guard: slots.clear in Sessions.ended, without which no slot comes back.
  @Test
  @Timeout(180)
  void aHundredThousandCases(@TempDir Path directory) throws Exception {
    attack(directory, 100_000);
  }

  @Test
  @Tag("slow")
  @Timeout(1_200)
  void aMillionCases(@TempDir Path directory) throws Exception {
    attack(directory, 1_000_000);
  }

  private static void attack(Path directory, int cases) throws Exception {
    long seed = System.nanoTime();
    System.out.println("HostileCasesTest seed " + seed);
    Random random = new Random(seed);
    Path socket = directory.resolve("m.sock");
    Process manager = EngineMain.start("manager", socket, "-XX:+TieredCompilation");
    AtomicBoolean done = new AtomicBoolean();
    AtomicLong answered = new AtomicLong();
    AtomicLong longest = new AtomicLong();
    AtomicReference<RuntimeException> unanswered = new AtomicReference<>();
    try {
      EngineMain.awaitLine(manager, "ready");
      try (ManagerClient honest = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
          RegisteredMemory memory = honest.allocate(8_192)) {
        var _ = memory.segment().fill(EngineMain.CONTENT);
        var _ = honest.publish(List.of(Piece.of(EngineMain.NAME, memory)), Duration.ofSeconds(20));
        Thread pinging =
            Thread.ofPlatform().start(() -> ping(honest, done, answered, longest, unanswered));
        int sessions = 0;
        int left = cases;
        while (left > 0 && unanswered.get() == null) {
          try (HostileSession hostile = new HostileSession(socket, random)) {
            left -= hostile.attack(Math.min(left, 200));
            sessions++;
          }
          assertThat(manager.isAlive()).as("the Manager lives, %d cases left", left).isTrue();
        }
        done.set(true);
        pinging.join();
        System.out.printf(
            "HostileCasesTest: %d cases in %d sessions; the honest one had %d answers, the slowest"
                + " in %d us%n",
            cases, sessions, answered.get(), longest.get() / 1_000);
        assertThat(unanswered.get()).isNull();
        assertThat(answered.get()).isPositive();
        assertReads(honest);
      }
      List<Channel> next = new ArrayList<>();
      try {
        for (int i = 0; i < SLOTS; i++) {
          next.add(Channel.openOnceFree(socket));
        }
      } finally {
        next.forEach(Channel::close);
      }
    } finally {
      done.set(true);
      manager.destroyForcibly().waitFor();
    }
  }

  private static void ping(
      ManagerClient honest,
      AtomicBoolean done,
      AtomicLong answered,
      AtomicLong longest,
      AtomicReference<RuntimeException> unanswered) {
    try {
      while (!done.get()) {
        long began = System.nanoTime();
        honest.ping();
        longest.accumulateAndGet(System.nanoTime() - began, Math::max);
        answered.incrementAndGet();
      }
    } catch (RuntimeException e) {
      unanswered.set(e);
    }
  }

  private static void assertReads(ManagerClient client) {
    try (BlockLease lease = client.queryAndWait(List.of(EngineMain.NAME), QueryOptions.LOCAL);
        Arena arena = Arena.ofConfined()) {
      assertThat(lease.blocks()).hasSize(1);
      MemorySegment copy = arena.allocate(8_192);
      lease.copyTo(lease.blocks().getFirst(), copy);
      assertThat(copy.toArray(ValueLayout.JAVA_BYTE)).containsOnly(EngineMain.CONTENT);
    }
  }
}
