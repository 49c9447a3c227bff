package io.orbitkv.manager.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.PageSize;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PoolTest {
  private static final long PAGE = PageSize.bytes();

  @Test
  void heldBytesAreNeverGivenOutAgain() {
    Pool pool = new Pool(4 * PAGE);
    Hold first = pool.reserve(2 * PAGE, "publish").orElseThrow();
    Hold second = pool.reserve(2 * PAGE, "publish").orElseThrow();
    pool.seal(first.allocation());
    Hold grant = pool.hold(first.allocation(), HoldKind.SOURCE, "grant 1");
    first.end();
    pool.retire(first.allocation());

    // Guard: Pool.freeIfUnheld; a retired allocation with a hold on it is not free.
    assertThat(pool.reserve(PAGE, "publish")).isEmpty();
    assertThat(pool.usage().retired()).isEqualTo(2 * PAGE);

    grant.end();
    assertThat(pool.reserve(2 * PAGE, "publish")).isPresent();
    assertThat(pool.state(first.allocation())).isEqualTo(AllocationState.FREED);
    assertThat(second.allocation().generation()).isGreaterThan(first.allocation().generation());
  }

  @Test
  void aFreedAllocationCanNotBeHeld() {
    Pool pool = new Pool(PAGE);
    Hold hold = pool.reserve(PAGE, "publish").orElseThrow();
    pool.retire(hold.allocation());
    hold.end();
    assertThatThrownBy(() -> pool.hold(hold.allocation(), HoldKind.LEASE, "session 1"))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aHoldEndsOnce() {
    Pool pool = new Pool(PAGE);
    Hold hold = pool.reserve(PAGE, "publish").orElseThrow();
    hold.end();
    assertThatThrownBy(hold::end)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("ended before");
  }

  @Test
  void illegalStepsFailLoudly() {
    Pool pool = new Pool(PAGE);
    Hold hold = pool.reserve(PAGE, "publish").orElseThrow();
    pool.seal(hold.allocation());
    assertThatThrownBy(() -> pool.seal(hold.allocation()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("SEALED");
  }

  @Test
  void quarantineIsChargedUntilEvidence() {
    Pool pool = new Pool(4 * PAGE);
    Hold filling = pool.reserve(PAGE, "ticket 1").orElseThrow();
    Hold destination = pool.hold(filling.allocation(), HoldKind.DESTINATION, "ticket 1");
    destination.quarantine();
    destination.quarantine();
    pool.retire(filling.allocation());
    filling.end();
    assertThat(pool.usage().quarantined()).isEqualTo(PAGE);
    assertThat(pool.usage().free()).isEqualTo(3 * PAGE);
    destination.end();
    assertThat(pool.usage().quarantined()).isZero();
    assertThat(pool.usage().free()).isEqualTo(4 * PAGE);
  }

  @Test
  void whatCanNeverFitIsRefused() {
    Pool pool = new Pool(PAGE);
    assertThatThrownBy(() -> pool.reserve(PAGE + 1, "publish"))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.INVALID))
        .hasMessageContaining("--pool-bytes");
  }

  @Test
  void closeIsRefusedWhileSomethingIsHeld() {
    Pool pool = new Pool(PAGE);
    Hold hold = pool.reserve(PAGE, "ticket 7").orElseThrow();
    assertThatThrownBy(pool::close)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.IN_USE))
        .hasMessageContaining("ticket 7");
    pool.retire(hold.allocation());
    hold.end();
    pool.close();
  }

  @Test
  void randomUseNeverOverlapsAndAlwaysComesBack() {
    long seed = System.nanoTime();
    System.out.println("PoolTest seed " + seed);
    Random random = new Random(seed);
    Pool pool = new Pool(64 * PAGE);
    List<Hold> live = new ArrayList<>();
    Set<Long> generations = new HashSet<>();
    for (int step = 0; step < 5_000; step++) {
      if (random.nextInt(5) < 3) {
        Optional<Hold> hold = pool.reserve(1 + random.nextLong(9 * PAGE), step);
        if (hold.isPresent()) {
          Allocation allocation = hold.get().allocation();
          assertThat(generations.add(allocation.generation())).isTrue();
          allocation.memory().fill((byte) allocation.generation());
          live.add(hold.get());
        }
      } else if (!live.isEmpty()) {
        Hold hold = live.remove(random.nextInt(live.size()));
        Allocation allocation = hold.allocation();
        byte expected = (byte) allocation.generation();
        for (long at = 0; at < allocation.bytes(); at += 509) {
          assertThat(allocation.memory().get(ValueLayout.JAVA_BYTE, at)).isEqualTo(expected);
        }
        pool.retire(allocation);
        hold.end();
      }
    }
    for (Hold hold : live) {
      pool.retire(hold.allocation());
      hold.end();
    }
    assertThat(pool.usage().free()).isEqualTo(pool.capacity());
    assertThat(pool.reserve(pool.capacity(), "all")).as("free ranges were merged").isPresent();
  }
}
