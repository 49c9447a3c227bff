package io.orbitkv.manager.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.restore.ClientOrdering;
import io.orbitkv.adapter.restore.EngineState;
import io.orbitkv.adapter.restore.HostBarriers;
import io.orbitkv.adapter.restore.ManagerState;
import io.orbitkv.adapter.restore.MappedWord;
import io.orbitkv.adapter.restore.SessionClaims;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RestoreRecordTest {
  private static final int SESSIONS = 64;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory = arena.allocate(8L * (SESSIONS + 1), 8);
  private final MappedWord managerWord = new MappedWord(memory, 8L * SESSIONS);
  private final RestoreRecord record = new RestoreRecord(managerWord, new HostBarriers());
  private final List<String> source = new ArrayList<>();

  private final PinnedSource pins =
      new PinnedSource() {
        @Override
        public void release() {
          source.add("released");
        }

        @Override
        public void quarantine() {
          source.add("quarantined");
        }
      };

  @AfterEach
  void close() {
    arena.close();
  }

  private MappedWord word(int session) {
    return new MappedWord(memory, 8L * session);
  }

  private List<RestoringSession> sessions(int count, boolean device) {
    List<RestoringSession> sessions = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sessions.add(new RestoringSession(word(i), ClientOrdering.FENCES, device));
    }
    return sessions;
  }

  private SessionClaims claims(int session) {
    return new SessionClaims(1, _ -> word(session), _ -> managerWord, new HostBarriers());
  }

  private void grant(long generation, int sessions, boolean device) {
    record.grant(generation, sessions(sessions, device));
    assertThat(record.poll()).isEqualTo(RecordPhase.SCANNING);
    assertThat(managerWord.load()).isEqualTo(ManagerState.GRANTED.word(generation));
  }

  /** Guard: that every open session is looked at, up to the last bit. */
  @Test
  void releaseWaitsForAllSessions() {
    grant(1, SESSIONS, false);
    for (int i = 0; i < SESSIONS - 1; i++) {
      var claim = claims(i).hold(0, 1);
      assertThat(claim.claim(1)).isTrue();
      assertThat(record.poll()).isEqualTo(RecordPhase.SCANNING);
      assertThat(claim.endPart(i % 2 == 0)).isTrue();
      assertThat(record.poll()).isEqualTo(RecordPhase.SCANNING);
    }
    var last = claims(SESSIONS - 1).hold(0, 1);
    assertThat(last.claim(1)).isTrue();
    assertThat(record.poll()).isEqualTo(RecordPhase.SCANNING);
    assertThat(last.endPart(true)).isTrue();
    assertThat(record.poll()).isEqualTo(RecordPhase.RELEASED);
    record.reap();
    assertThat(managerWord.load()).isEqualTo(ManagerState.REAPED.word(1));
    assertThatThrownBy(record::reap).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aRevocationWinsOverNoneAndWaitsForActive() {
    grant(1, 2, false);
    var claim = claims(0).hold(0, 1);
    assertThat(claim.claim(2)).isTrue();
    assertThat(record.revoke()).isTrue();
    assertThat(record.revoke()).isFalse();
    assertThat(record.poll()).isEqualTo(RecordPhase.SCANNING);
    assertThat(record.isDecided()).isTrue();
    assertThat(claims(1).hold(0, 1).claim(1)).as("after REVOKED").isFalse();
    assertThat(claim.endPart(true)).isFalse();
    assertThat(record.poll()).as("over PART_DRAINED").isEqualTo(RecordPhase.SCANNING);
    assertThat(claim.endPart(true)).isTrue();
    assertThat(record.poll()).isEqualTo(RecordPhase.RELEASED);
    assertThat(record.revoke()).isFalse();
  }

  @Test
  void anExitEndsHostCopiesAndNoDeviceCopies() {
    grant(1, 2, false);
    assertThat(claims(0).hold(0, 1).claim(1)).isTrue();
    record.exited(0);
    assertThat(record.poll()).isEqualTo(RecordPhase.SCANNING);
    record.exited(1);
    assertThat(record.poll()).isEqualTo(RecordPhase.RELEASED);
    record.reap();

    grant(2, 2, true);
    assertThat(claims(0).hold(0, 2).claim(2)).isTrue();
    record.exited(0);
    assertThat(record.poll()).isEqualTo(RecordPhase.SCANNING);
    record.exited(1);
    assertThat(record.poll()).isEqualTo(RecordPhase.QUARANTINED);
    assertThat(record.revoke()).isFalse();
    assertThatThrownBy(record::reap).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> record.grant(3, List.of())).isInstanceOf(IllegalStateException.class);
    assertThat(managerWord.load()).isEqualTo(ManagerState.GRANTED.word(2));
  }

  /** Guard: the check of each word against the one before. */
  @Test
  void aSessionThatWritesWhatNoEngineWritesEndsWithItsProcess() {
    long[] wrong = {
      EngineState.DRAINED.word(1) | 0x40, ManagerState.REAPED.word(1), EngineState.ACTIVE.word(1)
    };
    long generation = 0;
    for (long code : wrong) {
      generation++;
      long value = (code & 0xff) | (generation << 8);
      grant(generation, 1, false);
      assertThat(claims(0).hold(0, generation).claim(2)).isTrue();
      word(0).store(EngineState.PART_DRAINED.word(generation));
      assertThat(record.poll()).isEqualTo(RecordPhase.SCANNING);
      word(0).store(value);
      assertThat(record.poll()).isEqualTo(RecordPhase.SCANNING);
      assertThat(record.violation()).contains("session 0, generation " + generation);
      word(0).store(EngineState.DRAINED.word(generation));
      assertThat(record.poll()).as("no more trusted").isEqualTo(RecordPhase.SCANNING);
      record.exited(0);
      assertThat(record.poll()).isEqualTo(RecordPhase.RELEASED);
      record.reap();
    }
  }

  @Test
  void aGrantThatIsWrongChangesNothing() {
    grant(5, 1, false);
    assertThatThrownBy(() -> record.grant(6, List.of())).isInstanceOf(IllegalStateException.class);
    record.exited(0);
    assertThat(record.poll()).isEqualTo(RecordPhase.RELEASED);
    record.reap();
    assertThatThrownBy(() -> record.grant(5, List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("5 does not rise");
    assertThatThrownBy(() -> record.grant(1L << 56, List.of()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () -> record.grant(6, Collections.nCopies(65, sessions(1, false).getFirst())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("65 sessions");
    assertThat(record.phase()).isEqualTo(RecordPhase.EMPTY);
    grant(6, 1, false);
    assertThatThrownBy(() -> record.exited(1)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void aPromiseIsRedeemedByEverySession() {
    Promise promise = new Promise(record, 1, sessions(2, false), pins);
    assertThat(promise.poll()).isFalse();
    var first = claims(0).hold(0, 1);
    assertThat(first.claim(1)).isTrue();
    assertThat(first.endPart(true)).isTrue();
    assertThat(promise.poll()).isFalse();
    assertThat(source).isEmpty();
    var second = claims(1).hold(0, 1);
    assertThat(second.claim(1)).isTrue();
    assertThat(second.endPart(true)).isTrue();
    assertThat(promise.poll()).isTrue();
    assertThat(source).containsExactly("released");
    assertThat(managerWord.load()).isEqualTo(ManagerState.REAPED.word(1));
    grant(2, 1, false);
    assertThat(promise.cancel()).as("ended long ago").isEqualTo(CancelAnswer.WON);
    promise.exited(0);
    assertThat(record.poll()).as("another plan's record now").isEqualTo(RecordPhase.SCANNING);
  }

  @Test
  void aCancelThatLostIsAnsweredSoUntilTheCopyHasDrained() {
    Promise promise = new Promise(record, 1, sessions(2, false), pins);
    assertThat(promise.poll()).isFalse();
    assertThat(promise.answer()).isEqualTo(CancelAnswer.PENDING);
    var claim = claims(1).hold(0, 1);
    assertThat(claim.claim(1)).isTrue();
    assertThat(promise.cancel()).isEqualTo(CancelAnswer.LOST_TO_ACTIVE);
    assertThat(source).isEmpty();
    assertThat(claims(0).hold(0, 1).claim(1)).isFalse();
    assertThat(claim.endPart(true)).isTrue();
    assertThat(promise.poll()).isTrue();
    assertThat(promise.answer()).isEqualTo(CancelAnswer.WON);
    assertThat(source).containsExactly("released");
  }

  @Test
  void aCancelThatNobodyClaimedWinsAtOnce() {
    Promise promise = new Promise(record, 1, sessions(3, true), pins);
    assertThat(promise.cancel()).as("also before the first poll").isEqualTo(CancelAnswer.WON);
    assertThat(source).containsExactly("released");
  }

  @Test
  void aSchedulerThatExitsEndsWhatNobodyHasBegun() {
    Promise promise = new Promise(record, 1, sessions(2, true), pins);
    assertThat(promise.poll()).isFalse();
    assertThat(claims(0).hold(0, 1).claim(1)).isTrue();
    promise.schedulerExited();
    assertThat(promise.poll()).isFalse();
    assertThat(promise.answer()).as("nobody cancelled").isEqualTo(CancelAnswer.PENDING);
    assertThat(source).isEmpty();
    promise.exited(0);
    assertThat(promise.poll()).isFalse();
    assertThat(promise.poll()).isFalse();
    assertThat(source).containsExactly("quarantined");
    assertThat(promise.cancel()).isEqualTo(CancelAnswer.LOST_TO_ACTIVE);
  }
}
