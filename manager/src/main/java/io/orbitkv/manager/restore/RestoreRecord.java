package io.orbitkv.manager.restore;

import io.orbitkv.adapter.restore.Barriers;
import io.orbitkv.adapter.restore.ClientOrdering;
import io.orbitkv.adapter.restore.ManagerState;
import io.orbitkv.adapter.restore.SharedWord;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One restore record at the Manager, used for one plan after another: grants it, revokes it, and
 * says when every session that might read its source has ended. The only writer of the Manager's
 * word. Thread-safe; waits for nobody.
 *
 * <p>A session has ended when its word says DRAINED or FAILED; when it says NONE after REVOKED was
 * written and ordered; or when its process has exited and no device can be copying for it. Time and
 * closed sockets do not end it.
 */
public final class RestoreRecord {
  private final SharedWord word;
  private final Barriers barriers;

  private RecordPhase phase = RecordPhase.EMPTY;
  private ManagerState written = ManagerState.NONE;
  private long generation;
  private SessionWords sessions = new SessionWords(1, List.of());
  private boolean decided; // a scan was made under REVOKED

  /** A record that names no plan yet; the word is its own to write. */
  public RestoreRecord(SharedWord word, Barriers barriers) {
    this.word = word;
    this.barriers = barriers;
  }

  /**
   * Makes it name a plan that is written, with a source that is filled and pinned; then {@link
   * #poll}.
   *
   * @param generation higher than any before
   * @param redeemers the sessions that have the record mapped, at most 64; fixed until it is empty
   *     again; no word of one is the word of another
   * @throws IllegalStateException if it still names another plan
   * @throws IllegalArgumentException if the generation does not rise, or sessions are too many
   */
  public synchronized void grant(long generation, List<RestoringSession> redeemers) {
    require(RecordPhase.EMPTY, "a grant");
    if (generation <= this.generation) {
      throw new IllegalArgumentException(this + ": generation " + generation + " does not rise");
    }
    sessions = new SessionWords(generation, redeemers);
    this.generation = generation;
    written = ManagerState.NONE;
    decided = false;
    phase = sessions.any(ClientOrdering.UNORDERED) ? RecordPhase.FILLED : RecordPhase.GRANTING;
  }

  /**
   * Begins to take the grant back; then {@link #poll}.
   *
   * @return false if it has begun already, or there is nothing to take back, or a scan goes on
   */
  public synchronized boolean revoke() {
    if (written != ManagerState.GRANTED || !isBetweenScans()) {
      return false;
    }
    phase = RecordPhase.REVOKING;
    return true;
  }

  /**
   * The pidfd of a session's process has become readable; then {@link #poll}. Its word is final.
   *
   * @param session its index in the grant's list
   */
  public synchronized void exited(int session) {
    sessions.exited(session);
  }

  /**
   * Makes whatever step is due, and looks at the words of all open sessions once.
   *
   * @return RELEASED: the source can be read no more; SCANNING: a session has not ended;
   *     QUARANTINED; or EMPTY
   */
  public synchronized RecordPhase poll() {
    while (canStep() && phase != RecordPhase.SCANNING) {
      step();
    }
    if (phase == RecordPhase.SCANNING) {
      do {
        step();
      } while (canStep() && !isBetweenScans());
    }
    return phase;
  }

  /**
   * The source was released: writes REAPED. The record is EMPTY then.
   *
   * @throws IllegalStateException if it is not RELEASED
   */
  public synchronized void reap() {
    require(RecordPhase.RELEASED, "its end");
    write(ManagerState.REAPED);
    phase = RecordPhase.EMPTY;
  }

  /** Where it stands. */
  public synchronized RecordPhase phase() {
    return phase;
  }

  /** Whether the grant was taken back, or is about to be. */
  public synchronized boolean isRevoked() {
    return written == ManagerState.REVOKED || phase == RecordPhase.REVOKING;
  }

  /** What the sessions of its last grant have said so far. */
  public synchronized ClaimsSeen claims() {
    return sessions.seen();
  }

  /** Whether it was revoked, and all words were read since. */
  public synchronized boolean isDecided() {
    return decided;
  }

  /**
   * What a session wrote that no engine may write, in one line; null if nothing. It is trusted no
   * more: it ends with its process.
   */
  public synchronized @Nullable String violation() {
    return sessions.violation();
  }

  synchronized boolean isBetweenScans() {
    return phase == RecordPhase.SCANNING && sessions.isBetweenScans();
  }

  synchronized boolean canStep() {
    return phase != RecordPhase.EMPTY
        && phase != RecordPhase.RELEASED
        && phase != RecordPhase.QUARANTINED;
  }

  /** Makes the one access to memory that is next. */
  synchronized void step() {
    switch (phase) {
      case FILLED -> {
        barriers.membarrier();
        phase = RecordPhase.GRANTING;
      }
      case GRANTING -> {
        write(ManagerState.GRANTED);
        scan();
      }
      case REVOKING -> {
        write(ManagerState.REVOKED);
        phase = RecordPhase.REVOKED;
      }
      case REVOKED -> {
        barriers.fence();
        if (sessions.any(ClientOrdering.STORES_LATE) || sessions.any(ClientOrdering.UNORDERED)) {
          phase = RecordPhase.FENCED;
        } else {
          scan();
        }
      }
      case FENCED -> {
        barriers.membarrier();
        scan();
      }
      case SCANNING -> {
        if (sessions.look(written == ManagerState.REVOKED)) {
          if (sessions.needsProof()) {
            phase = RecordPhase.PROVING;
          } else {
            trust();
          }
        }
      }
      case PROVING -> {
        barriers.membarrier();
        trust();
      }
      case EMPTY, RELEASED, QUARANTINED ->
          throw new IllegalStateException(this + ": no step is next");
    }
  }

  private void scan() {
    sessions.begin();
    phase = RecordPhase.SCANNING;
  }

  private void trust() {
    sessions.trust();
    decided = written == ManagerState.REVOKED;
    if (!sessions.allEnded()) {
      phase = RecordPhase.SCANNING;
    } else {
      phase = sessions.isQuarantined() ? RecordPhase.QUARANTINED : RecordPhase.RELEASED;
    }
  }

  private void write(ManagerState state) {
    if (!written.canBecome(state)) {
      throw new IllegalStateException(this + ": " + state + " may not follow " + written);
    }
    word.store(state.word(generation));
    written = state;
  }

  private void require(RecordPhase needed, String what) {
    if (phase != needed) {
      throw new IllegalStateException(this + ": " + what + " needs a record that is " + needed);
    }
  }

  /** Its whole state, in one line. */
  @Override
  public synchronized String toString() {
    return "restore record, generation %d: %s, %s, decided %b, sessions %s"
        .formatted(generation, phase, written, decided, sessions);
  }
}
