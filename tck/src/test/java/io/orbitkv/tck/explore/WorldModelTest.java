package io.orbitkv.tck.explore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Real objects under the explorer: two threads add one each to a real counter. */
class WorldModelTest {
  private static class Adders implements World {
    final AtomicInteger counter = new AtomicInteger();
    final int[] read = {-1, -1};
    final boolean[] done = new boolean[2];
    final boolean atomic;

    Adders(boolean atomic) {
      this.atomic = atomic;
    }

    @Override
    public void offer(Steps steps) {
      for (int i = 0; i < 2; i++) {
        int thread = i;
        if (!done[i] && atomic) {
          steps.step("thread " + i + " adds", () -> write(thread, counter.incrementAndGet()));
        } else if (!done[i] && read[i] < 0) {
          steps.step("thread " + i + " reads", () -> read[thread] = counter.get());
        } else if (!done[i]) {
          steps.step("thread " + i + " writes", () -> write(thread, read[thread] + 1));
        }
      }
    }

    private void write(int thread, int value) {
      counter.set(value);
      done[thread] = true;
    }

    @Override
    public Object fingerprint() {
      return List.of(counter.get(), read[0], read[1], done[0], done[1]);
    }

    @Override
    public @Nullable String broken() {
      return ended() && counter.get() != 2 ? "WRONG: an addition was lost" : null;
    }

    @Override
    public boolean ended() {
      return done[0] && done[1];
    }
  }

  private static Exploration explore(java.util.function.Supplier<World> start) {
    return Explorer.explore(new WorldModel(List.of(start)), 100);
  }

  @Test
  void lostUpdateIsFoundByAShortestTrace() {
    Exploration found = explore(() -> new Adders(false));
    assertThat(found.problem()).isEqualTo("WRONG: an addition was lost");
    assertThat(found.trace())
        .hasSize(4)
        .startsWith("thread 0 reads", "thread 1 reads")
        .contains("thread 0 writes", "thread 1 writes");
  }

  @Test
  void atomicAdditionIsSafeAndLive() {
    assertThat(explore(() -> new Adders(true))).isEqualTo(new Exploration(4, null, List.of()));
  }

  @Test
  void stepThatThrowsIsWrong() {
    Exploration found =
        explore(
            () ->
                new Adders(true) {
                  @Override
                  public void offer(Steps steps) {
                    super.offer(steps);
                    steps.fault(
                        "the disk breaks",
                        () -> {
                          throw new IllegalStateException("broken");
                        });
                  }
                });
    assertThat(found.problem()).startsWith("WRONG: the last step threw ").contains("broken");
    assertThat(found.trace()).containsExactly("fault: the disk breaks");
  }

  @Test
  void randomWorldIsRefused() {
    AtomicInteger outside = new AtomicInteger();
    assertThatThrownBy(
            () ->
                explore(
                    () ->
                        new Adders(true) {
                          @Override
                          public Object fingerprint() {
                            return outside.incrementAndGet();
                          }
                        }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("not deterministic");
  }

  @Test
  void fingerprintThatLeavesSomethingOutIsRefused() {
    // Guard: the comparison in WorldModel.once; without it the second thread's step is never taken.
    assertThatThrownBy(
            () ->
                explore(
                    () ->
                        new Adders(false) {
                          @Override
                          public Object fingerprint() {
                            return Arrays.asList(counter.get(), done[0]);
                          }
                        }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("leaves something out");
  }

  @Test
  void stepsOfOneNameAreRefused() {
    assertThatThrownBy(
            () ->
                Steps.of(
                    new Adders(true) {
                      @Override
                      public void offer(Steps steps) {
                        steps.step("go", () -> {});
                        steps.step("go", () -> {});
                      }
                    }))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("go");
  }
}
