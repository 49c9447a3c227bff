package io.orbitkv.api.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GateTest {
  private static final int ROUNDS = 2_000;

  // Guard: that Gate.enter checks the bit and counts in one step (compareAndExchange).
  @Test
  void drainedIsForEverAndOneStepSaysSo() throws InterruptedException {
    for (int round = 0; round < ROUNDS; round++) {
      Gate gate = new Gate();
      AtomicInteger inside = new AtomicInteger();
      AtomicInteger seenInside = new AtomicInteger();
      AtomicInteger drainedSteps = new AtomicInteger();
      CountDownLatch started = new CountDownLatch(2);
      List<Thread> threads =
          IntStream.range(0, 2)
              .mapToObj(
                  _ ->
                      Thread.ofPlatform()
                          .start(
                              () -> {
                                started.countDown();
                                while (gate.enter()) {
                                  inside.incrementAndGet();
                                  if (gate.drained()) {
                                    seenInside.incrementAndGet();
                                  }
                                  inside.decrementAndGet();
                                  if (gate.leave()) {
                                    drainedSteps.incrementAndGet();
                                  }
                                }
                              }))
              .toList();
      started.await();
      if (gate.retire()) {
        drainedSteps.incrementAndGet();
      }
      while (!gate.drained()) {
        Thread.onSpinWait();
      }
      assertThat(inside).as("inside of a drained gate, round %d", round).hasValue(0);
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(seenInside).as("drained around somebody, round %d", round).hasValue(0);
      assertThat(drainedSteps).as("steps that drained it, round %d", round).hasValue(1);
      assertThat(gate.retire()).isFalse();
      assertThat(gate.enter()).isFalse();
    }
  }

  // Guard: the loop's condition in Gate.leave.
  @Test
  void leavingAnEmptyGateIsADefectAndChangesNothing() {
    Gate gate = new Gate();
    assertThatThrownBy(gate::leave).isInstanceOf(IllegalStateException.class);
    assertThat(gate.enter()).isTrue();
    assertThat(gate.retire()).isFalse();
    assertThat(gate.drained()).isFalse();
    assertThat(gate.leave()).isTrue();
    assertThatThrownBy(gate::leave).isInstanceOf(IllegalStateException.class);
    assertThat(gate.drained()).isTrue();
  }
}
