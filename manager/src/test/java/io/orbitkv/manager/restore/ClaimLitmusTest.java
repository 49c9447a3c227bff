package io.orbitkv.manager.restore;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.restore.Barriers;
import io.orbitkv.adapter.restore.ClientOrdering;
import io.orbitkv.adapter.restore.HostBarriers;
import io.orbitkv.adapter.restore.MappedWord;
import io.orbitkv.adapter.restore.RestoreClaim;
import io.orbitkv.adapter.restore.SessionClaims;
import io.orbitkv.ffm.Cpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One thread claims a row of records while another revokes the same row, many times: where they
 * meet, both must never win. Guard: the engine's fence. (On x86-64 the Manager's is not missed
 * here, as its way from store to load is longer: that one is {@link ClaimExplorationTest}'s.)
 */
@Tag("slow")
@Timeout(120)
class ClaimLitmusTest {
  private static final int ROW = 4096;
  private static final long LINE = 64;
  private static final long LEAST_NANOS = TimeUnit.SECONDS.toNanos(4);
  private static final long LEAST_MET = 100;
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(40);

  private final Barriers engineBarriers = new HostBarriers();
  private final Barriers managerBarriers = new HostBarriers();

  private final RestoreRecord[] records = new RestoreRecord[ROW];
  private final RestoreClaim[] claimed = new RestoreClaim[ROW];
  private final AtomicLong started = new AtomicLong(); // generation; negative: over
  private final AtomicLong reached = new AtomicLong(); // place: generation * ROW + record
  private final AtomicLong ended = new AtomicLong();
  private final Random random;

  ClaimLitmusTest() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    random = new Random(seed);
  }

  @Test
  void theClaimAndTheRevocationNeverBothWin() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment own = arena.allocate(ROW * LINE, LINE);
      MemorySegment shared = arena.allocate(ROW * LINE, LINE);
      SessionClaims claims =
          new SessionClaims(
              ROW,
              record -> new MappedWord(own, record * LINE),
              record -> new MappedWord(shared, record * LINE),
              engineBarriers);
      Arrays.setAll(
          records, i -> new RestoreRecord(new MappedWord(shared, i * LINE), managerBarriers));
      Thread engine = Thread.ofPlatform().start(() -> claimRows(claims));
      long[] outcomes = new long[4];
      long start = System.nanoTime();
      long passed = 0;
      long generation = 0;
      while (passed < LEAST_NANOS || (outcomes[0] < LEAST_MET && passed < MOST_NANOS)) {
        generation++;
        revokeRow(generation, own, outcomes);
        passed = System.nanoTime() - start;
      }
      started.set(-1);
      engine.join();
      System.out.printf(
          "claim and revocation: %d neither won, %d claim won, %d revocation won, %d both won%n",
          outcomes[0], outcomes[1], outcomes[2], outcomes[3]);
      assertThat(outcomes[3]).as("both won").isZero();
      assertThat(outcomes[1]).isPositive();
      assertThat(outcomes[2]).isPositive();
    }
  }

  private void claimRows(SessionClaims claims) {
    long generation = 0;
    while (true) {
      long now = started.get();
      if (now == generation) {
        Cpu.yieldNow();
        continue;
      }
      if (now < 0) {
        return;
      }
      generation = now;
      for (int i = 0; i < ROW; i++) {
        claimed[i] = claims.hold(i, generation);
        reached.setRelease(generation * ROW + i); // no fence: the claim's own must do
        for (int spins = (i * 31 + (int) generation * 17) & 15; spins > 0; spins--) {
          Thread.onSpinWait();
        }
        boolean _ = claimed[i].claim(1);
      }
      ended.set(generation);
    }
  }

  /** Waits for the other thread to come to the same record, and then some steps more or less. */
  private void meet(long place) {
    while (reached.getAcquire() < place) {
      Thread.onSpinWait();
    }
    for (int spins = random.nextInt(8); spins > 0; spins--) {
      Thread.onSpinWait();
    }
  }

  private void revokeRow(long generation, MemorySegment own, long[] outcomes) {
    for (int i = 0; i < ROW; i++) {
      MappedWord word = new MappedWord(own, i * LINE);
      records[i].grant(
          generation, List.of(new RestoringSession(word, ClientOrdering.FENCES, false)));
      assertThat(records[i].poll()).isEqualTo(RecordPhase.SCANNING);
    }
    boolean[] won = new boolean[ROW];
    started.set(generation);
    for (int i = 0; i < ROW; i++) {
      meet(generation * ROW + i);
      won[i] = records[i].revoke() && records[i].poll() == RecordPhase.RELEASED;
    }
    while (ended.get() != generation) {
      Cpu.yieldNow();
    }
    for (int i = 0; i < ROW; i++) {
      boolean copying = claimed[i].phase() == RestoreClaim.Phase.COPYING;
      outcomes[(copying ? 1 : 0) + (won[i] ? 2 : 0)]++;
      if (copying) {
        boolean _ = claimed[i].endPart(true);
      }
      assertThat(records[i].poll()).isEqualTo(RecordPhase.RELEASED);
      records[i].reap();
    }
  }
}
