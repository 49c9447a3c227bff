package io.orbitkv.manager.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.PlanCancellation;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.adapter.RestorePlan;
import io.orbitkv.adapter.Role;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.Manager;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Promises, redeemed by two workers and cancelled at random moments, while the pool is filled over
 * and over: whatever is restored has the bytes of its name, and at the end nothing is held.
 */
@Timeout(200)
class PlanRaceTest {
  private static final int NAMES = 24;
  private static final int POOL_BLOCKS = 16;

  @TempDir private Path folder;
  private final AtomicInteger published = new AtomicInteger();
  private final AtomicInteger restored = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicInteger cancelled = new AtomicInteger();

  // Guard: SessionWords.classify, which waits for ACTIVE also under REVOKED. Without it a restore
  // copies the bytes of another name.
  @Test
  void whatIsRestoredIsWhatWasPromised() throws Exception {
    race(Duration.ofSeconds(4));
  }

  @Test
  @Tag("slow")
  void whatIsRestoredIsWhatWasPromisedForAMinute() throws Exception {
    race(Duration.ofMinutes(1));
  }

  private void race(Duration length) throws Exception {
    long seed = System.nanoTime();
    System.out.println("PlanRaceTest seed " + seed);
    Path socket = folder.resolve("m.sock");
    Manager manager = Site.manager(socket);
    BlockingQueue<RestorePlan> told = new LinkedBlockingQueue<>(8);
    try (ExecutorService threads = Executors.newCachedThreadPool();
        ManagerClient scheduler = Site.client(socket, Role.SCHEDULER);
        ManagerClient first = Site.client(socket, Role.WORKER);
        ManagerClient second = Site.client(socket, Role.WORKER)) {
      long end = System.nanoTime() + length.toNanos();
      List<Future<?>> running = new ArrayList<>();
      running.add(threads.submit(() -> publish(first, new Random(seed), end)));
      running.add(threads.submit(() -> promise(scheduler, new Random(seed + 1), told, end)));
      running.add(threads.submit(() -> redeem(first, told, end)));
      running.add(threads.submit(() -> redeem(second, told, end)));
      for (Future<?> one : running) {
        one.get();
      }
      for (RestorePlan plan : told) {
        assertThat(plan.cancel()).isNotEqualTo(PlanCancellation.LOST_TO_ACTIVE);
      }
      Site.await("every plan has ended", () -> Site.openPlans(scheduler) == 0);
      assertThat(Site.planHolds(scheduler)).isZero();
      assertThat(Site.status(scheduler.status()).getAsJsonArray("holds")).isEmpty();
    } finally {
      manager.shutdown();
    }
    System.out.printf(
        "PlanRaceTest: %s restored, %s refused, %s cancelled%n", restored, refused, cancelled);
    assertThat(published.get()).as("blocks that took another's place").isGreaterThan(POOL_BLOCKS);
    assertThat(restored.get()).isPositive();
    assertThat(cancelled.get()).isPositive();
  }

  private void publish(ManagerClient client, Random random, long end) {
    try (RegisteredMemory memory = client.allocate(Site.BLOCK)) {
      while (System.nanoTime() < end) {
        int number = random.nextInt(NAMES);
        memory.segment().fill(Site.fill(number));
        // Present, or refused as the pool is full of what is held: then the next one.
        PublishResult result =
            client.publish(List.of(Piece.of(Site.name(number), memory)), Site.LIMIT).getFirst();
        if (result.status() == PublishResult.Status.STORED) {
          published.incrementAndGet();
        }
      }
    }
  }

  private void promise(
      ManagerClient client, Random random, BlockingQueue<RestorePlan> told, long end) {
    List<RestorePlan> open = new ArrayList<>();
    while (System.nanoTime() < end) {
      List<BlockName> names = Site.names(NAMES);
      Optional<RestorePlan> plan = client.plans().promise(names, Site.LOCAL, 1 + random.nextInt(2));
      if (plan.isPresent()) {
        open.add(plan.get());
        var _ = told.offer(plan.get());
      }
      if (open.size() > random.nextInt(4)) {
        var _ = open.removeFirst().cancel();
        cancelled.incrementAndGet();
      }
    }
    open.forEach(RestorePlan::cancel);
  }

  private void redeem(ManagerClient client, BlockingQueue<RestorePlan> told, long end) {
    while (System.nanoTime() < end) {
      try {
        RestorePlan plan = told.poll(20, TimeUnit.MILLISECONDS);
        if (plan != null) {
          RestorePlan redeemed = client.plans().redeem(plan.record(), plan.generation());
          // The pool is filled anew between the claim and the copy, if nothing holds its blocks.
          int before = published.get();
          Site.assertRestores(
              redeemed,
              part -> {
                while (published.get() < before + POOL_BLOCKS && System.nanoTime() < end) {
                  LockSupport.parkNanos(100_000);
                }
                part.run();
              });
          restored.incrementAndGet();
        }
      } catch (TransportException e) {
        assertThat(e.code()).isEqualTo(FaultCode.GRANT_ENDED);
        refused.incrementAndGet();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
