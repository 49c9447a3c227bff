package io.orbitkv.adapter.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SessionClaimsTest {
  private static final int RECORDS = 3;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment own = arena.allocate(8L * RECORDS, 8);
  private final MemorySegment manager = arena.allocate(8L * RECORDS, 8);
  private final SessionClaims claims =
      new SessionClaims(
          RECORDS,
          record -> new MappedWord(own, 8L * record),
          record -> new MappedWord(manager, 8L * record),
          new HostBarriers());
  private final AtomicInteger unmapped = new AtomicInteger();

  @AfterEach
  void close() {
    arena.close();
  }

  private void managerSays(int record, ManagerState state, long generation) {
    new MappedWord(manager, 8L * record).store(state.word(generation));
  }

  private EngineState said(int record, long generation) {
    return EngineState.read(new MappedWord(own, 8L * record).load(), generation);
  }

  @Test
  void aGrantedPlanIsCopiedInParts() {
    managerSays(1, ManagerState.GRANTED, 4);
    RestoreClaim claim = claims.hold(1, 4);
    assertThat(said(1, 4)).isEqualTo(EngineState.NONE);
    assertThat(claim.claim(3)).isTrue();
    assertThat(said(1, 4)).isEqualTo(EngineState.ACTIVE);
    assertThat(claim.endPart(true)).isFalse();
    assertThat(said(1, 4)).isEqualTo(EngineState.PART_DRAINED);
    assertThat(claim.endPart(true)).isFalse();
    assertThat(claim.endPart(true)).isTrue();
    assertThat(said(1, 4)).isEqualTo(EngineState.DRAINED);
    assertThatThrownBy(() -> claim.endPart(true)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(claim::step).isInstanceOf(IllegalStateException.class);
    assertThat(said(1, 4)).isEqualTo(EngineState.DRAINED);
  }

  @Test
  void aPartThatFailedFailsTheWholeAfterTheLast() {
    managerSays(0, ManagerState.GRANTED, 1);
    RestoreClaim claim = claims.hold(0, 1);
    assertThat(claim.claim(2)).isTrue();
    assertThat(claim.endPart(false)).isFalse();
    assertThat(said(0, 1)).isEqualTo(EngineState.PART_DRAINED);
    assertThat(claim.endPart(true)).isTrue();
    assertThat(said(0, 1)).isEqualTo(EngineState.FAILED);
  }

  /** Guard: the second read. */
  @Test
  void whatIsNotGrantedIsNotCopiedAndFails() {
    long generation = 0;
    for (ManagerState state : ManagerState.values()) {
      if (state != ManagerState.GRANTED) {
        generation++;
        managerSays(2, state, generation);
        assertThat(claims.hold(2, generation).claim(1)).isFalse();
        assertThat(said(2, generation)).isEqualTo(EngineState.FAILED);
      }
    }
    managerSays(2, ManagerState.GRANTED, generation + 2);
    assertThat(claims.hold(2, generation + 1).claim(1)).as("of another generation").isFalse();
    assertThat(said(2, generation + 1)).isEqualTo(EngineState.FAILED);
  }

  /** Guard: the check of the record's last claim in hold. */
  @Test
  void aRecordIsClaimedOnceAndInOrder() {
    managerSays(0, ManagerState.GRANTED, 5);
    RestoreClaim claim = claims.hold(0, 5);
    assertThat(claims.hold(0, 5)).isSameAs(claim);
    assertThat(claim.claim(1)).isTrue();
    assertThatThrownBy(() -> claim.claim(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> claims.hold(0, 5)).hasMessageContaining("claims once");
    assertThatThrownBy(() -> claims.hold(0, 6))
        .as("its word of generation 5 is not written yet")
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("COPYING");
    assertThat(claim.endPart(true)).isTrue();
    assertThatThrownBy(() -> claims.hold(0, 5)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> claims.hold(0, 4)).isInstanceOf(IllegalStateException.class);
    assertThat(claims.hold(0, 6).phase()).isEqualTo(RestoreClaim.Phase.HELD);
  }

  /** Guard: that hold cancels the plan that it replaces. */
  @Test
  void aPlanThatWasReplacedCanNotWriteOverItsSuccessor() {
    RestoreClaim old = claims.hold(0, 1);
    managerSays(0, ManagerState.GRANTED, 2);
    RestoreClaim claim = claims.hold(0, 2);
    assertThat(claim.claim(1)).isTrue();
    assertThatThrownBy(() -> old.claim(1)).isInstanceOf(IllegalStateException.class);
    assertThat(said(0, 2)).isEqualTo(EngineState.ACTIVE);
  }

  @Test
  void aCancelWinsOverWhatWasNotClaimedOnly() {
    managerSays(0, ManagerState.GRANTED, 1);
    managerSays(1, ManagerState.GRANTED, 1);
    RestoreClaim won = claims.hold(0, 1);
    assertThat(won.cancel()).isTrue();
    assertThat(won.cancel()).isTrue();
    assertThatThrownBy(() -> won.claim(1)).isInstanceOf(IllegalStateException.class);
    assertThat(said(0, 1)).isEqualTo(EngineState.NONE);
    RestoreClaim lost = claims.hold(1, 1);
    assertThat(lost.claim(1)).isTrue();
    assertThat(lost.cancel()).isFalse();
    assertThat(lost.endPart(true)).isTrue();
    assertThat(lost.cancel()).isTrue();
  }

  /** Guard: the count of open plans before unmap. */
  @Test
  void theOldArenasGoAfterTheLastPlan() {
    managerSays(0, ManagerState.GRANTED, 1);
    managerSays(1, ManagerState.GRANTED, 2);
    managerSays(2, ManagerState.REVOKED, 3);
    RestoreClaim copying = claims.hold(0, 1);
    assertThat(copying.claim(1)).isTrue();
    RestoreClaim revoked = claims.hold(2, 3);
    claims.managerDied(unmapped::incrementAndGet);
    assertThat(revoked.phase()).as("can never be claimed").isEqualTo(RestoreClaim.Phase.ENDED);
    assertThat(copying.endPart(true)).isTrue();
    assertThat(unmapped).as("record 1 was told to the instance").hasValue(0);
    RestoreClaim last = claims.hold(1, 2);
    assertThat(last.claim(2)).as("redeemed without its Manager").isTrue();
    assertThat(last.endPart(true)).isFalse();
    assertThat(unmapped).hasValue(0);
    assertThat(last.endPart(true)).isTrue();
    assertThat(unmapped).hasValue(1);
  }

  @Test
  void withoutPlansTheOldArenasGoAtOnce() {
    claims.managerDied(unmapped::incrementAndGet);
    assertThat(unmapped).hasValue(1);
  }

  @Test
  void whoeverCancelsWhatIsHeldUnmapsOnce() {
    managerSays(0, ManagerState.GRANTED, 1);
    managerSays(1, ManagerState.GRANTED, 1);
    claims.managerDied(unmapped::incrementAndGet);
    assertThat(unmapped).hasValue(0);
    claims.cancelHeld();
    assertThat(unmapped).hasValue(1);
    claims.cancelHeld();
    assertThat(unmapped).hasValue(1);
  }

  @Test
  void aLocalCancelWaitsForEverySession() {
    LocalCancel cancel = new LocalCancel(2);
    assertThat(cancel.ended(1)).isFalse();
    assertThat(cancel.ended(1)).isFalse();
    assertThat(cancel.pagesFree()).isFalse();
    assertThatThrownBy(() -> cancel.ended(2)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(cancel.ended(0)).isTrue();
    assertThat(cancel.pagesFree()).isTrue();
    assertThat(new LocalCancel(0).pagesFree()).isTrue();
    assertThat(new LocalCancel(64).ended(63)).isFalse();
  }
}
