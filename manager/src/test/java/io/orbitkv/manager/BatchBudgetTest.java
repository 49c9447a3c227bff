package io.orbitkv.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.AdmissionBudget;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The bounds on batches and on their descriptors; takes nothing when it refuses. */
class BatchBudgetTest {
  private final BatchBudget budget = new BatchBudget(2, 100);

  private static void assertExhausted(String flag, ThrowingCallable call) {
    assertThatThrownBy(call)
        .hasMessageContaining(flag)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.EXHAUSTED));
  }

  private void assertTaken(int batches, long bytes, long refusals) {
    assertThat(budget.batches()).isEqualTo(batches);
    assertThat(budget.descriptorBytes()).isEqualTo(bytes);
    assertThat(budget.refusals()).isEqualTo(refusals);
  }

  // Guard: the check of the number in take().
  @Test
  void batchesBeyondTheLimitAreRefusedAndCounted() {
    AdmissionBudget.Place first = budget.take(1);
    AdmissionBudget.Place second = budget.take(1);
    assertExhausted("--max-live-batches", () -> budget.take(1));
    assertTaken(2, 2, 1);
    first.close();
    AdmissionBudget.Place third = budget.take(1);
    assertTaken(2, 2, 1);
    second.close();
    third.close();
    assertTaken(0, 0, 1);
  }

  // Guard: the check of the bytes in take(), which must not overflow.
  @Test
  void descriptorBytesBeyondTheLimitAreRefusedAndCounted() {
    AdmissionBudget.Place place = budget.take(60);
    assertExhausted("--max-descriptor-bytes", () -> budget.take(41));
    assertExhausted("--max-descriptor-bytes", () -> budget.take(Long.MAX_VALUE));
    assertExhausted("--max-descriptor-bytes", () -> budget.take(-1));
    assertTaken(1, 60, 3);
    budget.take(40).close();
    place.close();
    assertTaken(0, 0, 3);
  }

  // Guard: a place that is given back twice would let one batch too many in.
  @Test
  void aPlaceIsGivenBackOnce() {
    AdmissionBudget.Place place = budget.take(1);
    place.close();
    assertThatThrownBy(place::close).isInstanceOf(IllegalStateException.class);
    assertTaken(0, 0, 0);
  }
}
