package io.orbitkv.manager.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DigestChecksTest {
  /** As a JVM that has no thread left, before or after it has kept what it is to run. */
  private static final class NoThread extends ThreadPoolExecutor {
    final List<Runnable> kept = new ArrayList<>();
    boolean runs;

    NoThread() {
      super(0, 1, 0, TimeUnit.SECONDS, new SynchronousQueue<>());
    }

    @Override
    public void execute(Runnable task) {
      kept.add(task);
      if (runs) {
        task.run();
      }
      throw new OutOfMemoryError("unable to create native thread");
    }
  }

  // Guard: DigestChecks.submit catching Error, and taking back what was kept nevertheless.
  @Test
  void aCheckThatGetsNoThreadIsRefusedAndNeverRuns() {
    NoThread threads = new NoThread();
    AtomicInteger ran = new AtomicInteger();
    try (DigestChecks checks = new DigestChecks(threads)) {
      assertThat(checks.submit(ran::incrementAndGet)).isFalse();
      threads.kept.forEach(Runnable::run);
      assertThat(ran).hasValue(0);
      threads.runs = true;
      assertThat(checks.submit(ran::incrementAndGet)).isTrue();
      assertThat(ran).hasValue(1);
    }
  }
}
