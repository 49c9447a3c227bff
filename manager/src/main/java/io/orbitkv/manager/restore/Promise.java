package io.orbitkv.manager.restore;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A plan told to an engine instance: pinned without expiry. Ends when every session has redeemed
 * and drained it, when it was cancelled and no session copies, or when every process of the
 * instance has exited. Owns its record, and the pins of the source, until then. Thread-safe; waits
 * for nobody; holds no clock.
 */
public final class Promise {
  private final RestoreRecord record;
  private final PinnedSource source;
  private boolean unwanted;
  private boolean cancelled;
  private boolean reaped;
  private boolean settled; // the source was released or quarantined

  /**
   * Grants the record; {@link #poll} writes GRANTED.
   *
   * @param record empty, and used by nobody else until this has ended
   * @param redeemers the sessions of the instance that will copy, each with a word of its own
   * @param source its pins, handed over
   * @throws IllegalStateException if the record is not empty; then nothing was handed over
   */
  public Promise(
      RestoreRecord record,
      long generation,
      List<RestoringSession> redeemers,
      PinnedSource source) {
    this.record = record;
    this.source = source;
    record.grant(generation, redeemers);
  }

  /**
   * Cancels.
   *
   * @return WON or LOST_TO_ACTIVE
   */
  public synchronized CancelAnswer cancel() {
    askCancel();
    poll();
    return answer();
  }

  /** Cancels without a step; {@link #answer} says how it went. */
  synchronized void askCancel() {
    unwanted = true;
    cancelled = true;
  }

  /**
   * The process that would have told the others to redeem has exited: nobody will. That is no end:
   * the plan is revoked, which ends it for those that have not begun.
   */
  public synchronized void schedulerExited() {
    unwanted = true;
  }

  /**
   * As many sessions as were to redeem it have done so: it is revoked for the others; then {@link
   * #poll}.
   */
  public synchronized void redeemed() {
    unwanted = true;
  }

  /** What the sessions have said so far; stays when it has ended, until the record's next plan. */
  public synchronized ClaimsSeen claims() {
    return record.claims();
  }

  /** What a session wrote that no engine may write, in one line; null if nothing. */
  public synchronized @Nullable String violation() {
    return record.violation();
  }

  /** Whether no session may begin any more. */
  public synchronized boolean isRevoked() {
    return record.isRevoked();
  }

  /** Whether a device may still copy, for a process that has exited: never ends. */
  public synchronized boolean isQuarantined() {
    return record.phase() == RecordPhase.QUARANTINED;
  }

  /**
   * A session's process has exited; then {@link #poll}.
   *
   * @param session its index in the list of those that redeem
   */
  public synchronized void exited(int session) {
    if (!reaped) {
      record.exited(session);
    }
  }

  /**
   * Goes as far as the words of the sessions allow.
   *
   * @return whether it has ended: the record is empty
   */
  public synchronized boolean poll() {
    if (reaped) {
      return true;
    }
    do {
      revokeIfUnwanted();
      var _ = record.poll();
    } while (unwanted && record.isBetweenScans());
    while (canStep() && !record.canStep()) {
      step();
    }
    return reaped;
  }

  /** How the cancel went, so far. */
  public synchronized CancelAnswer answer() {
    if (reaped) {
      return CancelAnswer.WON;
    }
    boolean decided = record.isDecided() || record.phase() == RecordPhase.QUARANTINED;
    return cancelled && decided ? CancelAnswer.LOST_TO_ACTIVE : CancelAnswer.PENDING;
  }

  synchronized boolean canStep() {
    return !reaped && !(settled && record.phase() == RecordPhase.QUARANTINED);
  }

  /** Makes the one access to memory, or the one end of a pin, that is next. */
  synchronized void step() {
    revokeIfUnwanted();
    if (record.canStep()) {
      record.step();
    } else if (settled) {
      record.reap();
      reaped = true;
    } else if (record.phase() == RecordPhase.QUARANTINED) {
      settled = true;
      source.quarantine();
    } else {
      settled = true;
      source.release();
    }
  }

  private void revokeIfUnwanted() {
    // Also if it was revoked before, for another reason: there is nothing more to do then.
    if (unwanted && (record.isRevoked() || record.revoke())) {
      unwanted = false;
    }
  }

  /** Its whole state, in one line. */
  @Override
  public synchronized String toString() {
    return "promise: unwanted %b, cancelled %b, settled %b, reaped %b, %s"
        .formatted(unwanted, cancelled, settled, reaped, record);
  }
}
