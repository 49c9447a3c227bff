package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.api.Epoch;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A session that was woken and has nothing to do uses no processor time. */
final class RingIdleTest {
  private static final int WAKES = 20;
  private static final byte[] NOTHING = {};
  private static final long MOST_NANOS = 50_000_000;

  @TempDir private Path directory = Path.of("");

  /**
   * Guard: SessionRing.consumeWakes, without which an event that woke the thread once does so for
   * ever.
   */
  @Test
  void eventsThatWereUsedWakeNoMore() throws Exception {
    Path socket = directory.resolve("m.sock");
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer _ = LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks);
        Channel channel = Channel.open(socket)) {
      for (int i = 1; i <= WAKES; i++) {
        channel.awaitSleep();
        assertThat(channel.command(Opcode.PING, i, NOTHING, 0, 0).requestId()).isEqualTo(i);
      }

      long deadline = System.nanoTime() + Channel.LIMIT.toNanos();
      long used;
      do {
        long before = ringNanos();
        TimeUnit.SECONDS.sleep(1); // what is measured
        used = ringNanos() - before;
      } while (used > MOST_NANOS && System.nanoTime() < deadline);
      assertThat(used).as("ns of processor time in a second without work").isLessThan(MOST_NANOS);
      assertThat(channel.command(Opcode.PING, WAKES + 1, NOTHING, 0, 0).requestId())
          .isEqualTo(WAKES + 1);
    }
  }

  private static long ringNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long[] rings =
        Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
            .filter(thread -> thread != null && thread.getThreadName().startsWith("orbitkv-ring"))
            .mapToLong(thread -> threads.getThreadCpuTime(thread.getThreadId()))
            .toArray();
    assertThat(rings).as("threads of rings").hasSize(1);
    return rings[0];
  }
}
