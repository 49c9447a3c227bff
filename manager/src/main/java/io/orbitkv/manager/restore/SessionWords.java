package io.orbitkv.manager.restore;

import io.orbitkv.adapter.restore.ClientOrdering;
import io.orbitkv.adapter.restore.EngineState;
import io.orbitkv.adapter.restore.RestoreWord;
import io.orbitkv.api.Evidence;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the engine words of one grant have said so far: read one at a time, trusted a scan at a
 * time. Guarded by its record.
 */
final class SessionWords {
  private final long generation;
  private final List<RestoringSession> sessions;
  private final EngineState[] seen;

  // A bit a session.
  private long open;
  private long exited;
  private long broken;
  private long quarantined;

  // Of the scan that goes on.
  private int next;
  private long ended;

  private @Nullable String violation;

  SessionWords(long generation, List<RestoringSession> sessions) {
    if (sessions.size() > Long.SIZE) {
      throw new IllegalArgumentException(
          "restore record: " + sessions.size() + " sessions; at most " + Long.SIZE);
    }
    this.generation = RestoreWord.requireGeneration(generation);
    this.sessions = List.copyOf(sessions);
    seen = new EngineState[sessions.size()];
    Arrays.fill(seen, EngineState.NONE);
    open = sessions.isEmpty() ? 0 : -1L >>> (Long.SIZE - sessions.size());
  }

  void exited(int session) {
    exited |= 1L << Objects.checkIndex(session, sessions.size());
  }

  boolean any(ClientOrdering ordering) {
    return sessions.stream().anyMatch(session -> session.ordering() == ordering);
  }

  void begin() {
    next = 0;
    ended = 0;
  }

  boolean isBetweenScans() {
    return next == 0;
  }

  /**
   * Reads the next word.
   *
   * @param revoked whether REVOKED was written and ordered before this scan, so that NONE is an end
   * @return whether it was the last one
   */
  boolean look(boolean revoked) {
    long left = open & -1L << next;
    if (left != 0) {
      next = Long.numberOfTrailingZeros(left) + 1;
      classify(next - 1, revoked);
      left &= left - 1;
    }
    return left == 0;
  }

  /** Whether an end that the scan saw is that of a client whose loads may still be late. */
  boolean needsProof() {
    for (long left = ended; left != 0; left &= left - 1) {
      if (sessions.get(Long.numberOfTrailingZeros(left)).ordering() == ClientOrdering.UNORDERED) {
        return true;
      }
    }
    return false;
  }

  void trust() {
    open &= ~(ended | quarantined);
    begin();
  }

  boolean allEnded() {
    return open == 0;
  }

  boolean isQuarantined() {
    return quarantined != 0;
  }

  @Nullable String violation() {
    return violation;
  }

  ClaimsSeen seen() {
    int claimed = 0;
    int whole = 0;
    int failed = 0;
    int lost = 0;
    EnumSet<Evidence> evidence = EnumSet.noneOf(Evidence.class);
    for (int i = 0; i < seen.length; i++) {
      EngineState state = seen[i];
      boolean over = (open & 1L << i) == 0;
      claimed += state == EngineState.NONE ? 0 : 1;
      if (over && (quarantined & 1L << i) == 0) {
        whole += state == EngineState.DRAINED ? 1 : 0;
        failed += state == EngineState.FAILED ? 1 : 0;
        lost += state == EngineState.ACTIVE || state == EngineState.PART_DRAINED ? 1 : 0;
        evidence.add(evidence(i, state));
      }
    }
    return new ClaimsSeen(claimed, whole, failed, lost, evidence);
  }

  /** Why the hold of a session has ended. */
  private Evidence evidence(int session, EngineState last) {
    if (last.isEnd()) {
      boolean device = sessions.get(session).copiesOnDevice();
      return device ? Evidence.LOCAL_COMPLETION : Evidence.LOCAL_QUIESCED;
    }
    boolean gone = (exited & 1L << session) != 0;
    return gone ? Evidence.OWNER_EXITED : Evidence.NEVER_SUBMITTED;
  }

  private void classify(int session, boolean revoked) {
    long bit = 1L << session;
    // Asked before the word is read: after the exit it is final.
    boolean gone = (exited & bit) != 0;
    EngineState state = read(session);
    boolean never = state == EngineState.NONE && (revoked || gone);
    boolean maybeCopying = !state.isEnd() && !never;
    if (maybeCopying && gone && sessions.get(session).copiesOnDevice()) {
      quarantined |= bit;
    } else if (!maybeCopying || gone) {
      ended |= bit;
    }
  }

  private EngineState read(int session) {
    long word = sessions.get(session).word().load();
    EngineState before = seen[session];
    if ((broken & 1L << session) != 0) {
      return before;
    }
    try {
      EngineState now = EngineState.read(word, generation);
      if (before.reaches(now)) {
        seen[session] = now;
        return now;
      }
      distrust(session, "wrote " + now + " after " + before);
    } catch (IllegalStateException e) {
      distrust(session, String.valueOf(e.getMessage()));
    }
    return seen[session];
  }

  /** From here on it counts as copying, until its process exits. */
  private void distrust(int session, String why) {
    broken |= 1L << session;
    seen[session] = EngineState.ACTIVE;
    violation = "session " + session + ", generation " + generation + ": " + why;
  }

  @Override
  public String toString() {
    return "%s, open %x, exited %x, broken %x, quarantined %x, at %d, ended %x"
        .formatted(Arrays.toString(seen), open, exited, broken, quarantined, next, ended);
  }
}
