package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.Origin;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.api.FaultCode;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A pool of 64 small blocks, so that every byte of it is reused all the time. */
class EvictionTest {
  private static final int BLOCK_BYTES = 64 << 10;
  private static final int POOL_BLOCKS = 64;
  private static final int NAMES = 60;
  private static final int GENERATIONS = 6;
  private static final int THREADS_EACH = 3;
  private static final int STEPS = 400;

  @RegisterExtension final Rig rig = new Rig();

  private final long seed = System.nanoTime();
  private final AtomicLong fromPeers = new AtomicLong();
  private final AtomicLong local = new AtomicLong();

  // No one guard goes red here: each hold has a test of its own. This one asks whether all of them
  // together are enough when everything is reused all the time.
  @Test
  void everyGetIsRightOrAMiss() throws InterruptedException, ExecutionException {
    System.out.println("seed " + seed);
    Rig.Pair pair = rig.pair("--pool-bytes", Integer.toString(POOL_BLOCKS * BLOCK_BYTES));
    try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread::new)) {
      List<Future<?>> work = new ArrayList<>();
      for (int i = 0; i < 2 * THREADS_EACH; i++) {
        ManagerProcess manager = i % 2 == 0 ? pair.a() : pair.b();
        Random random = new Random(seed + i);
        work.add(threads.submit(() -> work(manager, random)));
      }
      for (Future<?> thread : work) {
        thread.get();
      }
    }
    for (ManagerProcess manager : List.of(pair.a(), pair.b())) {
      Status after = manager.awaitQuiet();
      assertThat(after.number("catalog.evictions")).isPositive();
      assertThat(after.number("pool.free_bytes"))
          .isEqualTo((POOL_BLOCKS - after.number("catalog.blocks")) * BLOCK_BYTES);
      assertThat(after.number("pool.retired_bytes")).isZero();
    }
    System.out.println("hits: " + local + " local, " + fromPeers + " from peers");
    assertThat(fromPeers.get()).isPositive();
    assertThat(local.get()).isPositive();
  }

  private void work(ManagerProcess manager, Random random) {
    try (Engine engine = manager.engine()) {
      int step = 0;
      while (step < STEPS) {
        // Read in the end, when the pool has turned over: that is what a lease is for.
        List<Page> pages = pages(random, 1 + random.nextInt(4));
        try (BlockLease lease = engine.lease(pages, QueryOptions.FETCH)) {
          for (int last = step + random.nextInt(12); step <= last; step++) {
            publishOrRead(engine, random);
          }
          Engine.check(pages, lease);
        }
      }
    }
  }

  private void publishOrRead(Engine engine, Random random) {
    List<Page> pages = pages(random, 1 + random.nextInt(12));
    if (random.nextInt(3) == 0) {
      engine.publish(pages).forEach(EvictionTest::checkPublished);
      return;
    }
    // Short deadlines among them: an answer may come while its transfer is still under way.
    Duration deadline = Duration.ofMillis(random.nextInt(4) == 0 ? 2 : 5_000);
    QueryOptions options =
        QueryOptions.FETCH.withDeadline(deadline).withPrefix(random.nextBoolean());
    for (Origin origin : engine.read(pages, options).values()) {
      (origin == Origin.PEER ? fromPeers : local).incrementAndGet();
    }
  }

  private static List<Page> pages(Random random, int count) {
    int first = random.nextInt(NAMES);
    int generation = random.nextInt(GENERATIONS);
    List<Page> pages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      pages.add(new Page(1, (first + i) % NAMES, generation, BLOCK_BYTES));
    }
    return pages;
  }

  private static void checkPublished(PublishResult result) {
    // Full of blocks that others hold right now: refused, and nothing was stored.
    if (result.status() == PublishResult.Status.FAULT && result.code() != FaultCode.EXHAUSTED) {
      throw new AssertionError("publish failed: " + result);
    }
  }
}
