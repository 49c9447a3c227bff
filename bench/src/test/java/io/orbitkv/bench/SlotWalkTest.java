package io.orbitkv.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SlotWalkTest {
  private static final long POOL_BYTES = 1 << 20;

  /** Guard: the step is coprime to the number of places. */
  @Test
  void blocksOfOneOperationNeverOverlap() {
    SlotWalk walk = new SlotWalk(LoopShape.random(4096, 200, 1), POOL_BYTES, POOL_BYTES, 0);
    for (int operation = 0; operation < 500; operation++) {
      walk.next();
      Set<Long> to = new HashSet<>();
      Set<Long> from = new HashSet<>();
      for (int i = 0; i < walk.batch(); i++) {
        assertThat(walk.to(i)).isBetween(0L, POOL_BYTES - 4096);
        assertThat(walk.from(i)).isBetween(0L, POOL_BYTES - 4096);
        to.add(walk.to(i));
        from.add(walk.from(i));
      }
      assertThat(to).hasSize(200);
      assertThat(from).hasSize(200);
    }
  }

  /** Guard: a thread's places begin behind those of the thread before it. */
  @Test
  void threadsWriteToSharesOfTheirOwn() {
    LoopShape shape = LoopShape.random(4096, 1, 8);
    Set<Long> all = new HashSet<>();
    for (int thread = 0; thread < 8; thread++) {
      SlotWalk walk = new SlotWalk(shape, POOL_BYTES, POOL_BYTES, thread);
      Set<Long> own = new HashSet<>();
      for (int operation = 0; operation < 1000; operation++) {
        walk.next();
        own.add(walk.to(0));
      }
      assertThat(all).doesNotContainAnyElementsOf(own);
      all.addAll(own);
    }
  }

  /** Guard: the random start leaves room for the last piece. */
  @Test
  void stridedPiecesStayInsideThePool() {
    LoopShape shape = new LoopShape(4096, 1000, 8192, 1);
    SlotWalk walk = new SlotWalk(shape, POOL_BYTES, POOL_BYTES, 0);
    assertThat(walk.batch()).isEqualTo(128);
    for (int operation = 0; operation < 1000; operation++) {
      walk.next();
      for (int i = 1; i < walk.batch(); i++) {
        assertThat(walk.to(i) - walk.to(i - 1)).isEqualTo(8192);
      }
      assertThat(walk.to(walk.batch() - 1) + 4096).isLessThanOrEqualTo(POOL_BYTES);
      assertThat(walk.from(walk.batch() - 1) + 4096).isLessThanOrEqualTo(POOL_BYTES);
    }
  }

  @Test
  void poolWithoutRoomForEveryThreadIsRefused() {
    assertThatThrownBy(() -> LoopShape.random(POOL_BYTES, 1, 2).batchIn(POOL_BYTES))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no room for a block of 1048576 bytes for each of 2 threads");
  }
}
