package io.orbitkv.manager.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Tasks run in order, one at a time, by whoever brings them. */
class StrandTest {
  // Guard: Strand.execute leaves a task to the thread that runs one. Without it the order is 1 3 2.
  @Test
  void aTaskThatATaskBringsRunsAfterIt() {
    Strand strand = new Strand();
    List<Integer> order = new ArrayList<>();
    strand.execute(
        () -> {
          order.add(1);
          strand.execute(() -> order.add(3));
          order.add(2);
        });
    assertThat(order).containsExactly(1, 2, 3);
  }

  // Guard: the catch in Strand.execute. Without it the strand takes nothing any more.
  @Test
  void aTaskThatThrowsEndsItselfOnly() {
    Strand strand = new Strand();
    List<Integer> order = new ArrayList<>();
    strand.execute(
        () -> {
          strand.execute(() -> order.add(1));
          throw new AssertionError("a defect, on purpose");
        });
    strand.execute(() -> order.add(2));
    assertThat(order).containsExactly(1, 2);
  }

  // Guard: Strand.next clears running under the lock. Without it tasks are lost or run together.
  @Test
  void tasksOfManyThreadsRunOneAtATimeAndNoneIsLost() throws InterruptedException {
    Strand strand = new Strand();
    AtomicBoolean inside = new AtomicBoolean();
    AtomicBoolean together = new AtomicBoolean();
    int threads = 4;
    int tasks = 20_000;
    // Only ever touched on the strand.
    int[] ran = new int[1];
    CountDownLatch all = new CountDownLatch(threads * tasks);
    for (int i = 0; i < threads; i++) {
      Thread.ofPlatform()
          .daemon()
          .start(
              () -> {
                for (int n = 0; n < tasks; n++) {
                  strand.execute(
                      () -> {
                        together.compareAndSet(false, !inside.compareAndSet(false, true));
                        ran[0]++;
                        inside.set(false);
                        all.countDown();
                      });
                }
              });
    }
    assertThat(all.await(60, TimeUnit.SECONDS)).as("all tasks ran").isTrue();
    // The last task may still be leaving in its own thread, which then runs this one.
    CompletableFuture<Integer> seen = new CompletableFuture<>();
    strand.execute(() -> seen.complete(ran[0]));
    assertThat(seen).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(threads * tasks);
    assertThat(together).isFalse();
  }
}
