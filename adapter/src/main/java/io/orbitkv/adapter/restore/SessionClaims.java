package io.orbitkv.adapter.restore;

import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one session, one a record: a record is claimed at most once in a generation, and
 * one generation's last word is written before the next one's first. Thread-safe. Lasts as long as
 * the session's mappings; when the Manager has died it says when those may go.
 */
public final class SessionClaims {
  private final IntFunction<SharedWord> own;
  private final IntFunction<SharedWord> manager;
  private final Barriers barriers;
  private final @Nullable RestoreClaim[] claims;
  private @Nullable Runnable unmap;

  /**
   * No claims.
   *
   * @param records how many records there are
   * @param own this session's word of a record, which nobody else writes
   * @param manager the Manager's word of a record
   */
  public SessionClaims(
      int records,
      IntFunction<SharedWord> own,
      IntFunction<SharedWord> manager,
      Barriers barriers) {
    this.own = own;
    this.manager = manager;
    this.barriers = barriers;
    this.claims = new @Nullable RestoreClaim[records];
  }

  /**
   * The claim of a plan that the instance was told of, made when it is asked for first.
   *
   * @throws IllegalStateException if this generation was claimed or cancelled before, is older than
   *     one that was held, or the record's last claim has not ended
   */
  public synchronized RestoreClaim hold(int record, long generation) {
    Objects.checkIndex(record, claims.length);
    RestoreClaim last = claims[record];
    if (last != null && last.generation() == generation && isHeld(last)) {
      return last;
    }
    // A plan that was never claimed is given up for a newer one, so that it can not write later.
    if (last != null && (generation <= last.generation() || !last.cancel())) {
      throw new IllegalStateException(
          "record %d, generation %d: a session claims once, and in order; its last is the %s"
              .formatted(record, generation, last));
    }
    RestoreClaim claim =
        new RestoreClaim(
            generation, own.apply(record), manager.apply(record), barriers, this::claimEnded);
    claims[record] = claim;
    return claim;
  }

  /**
   * The Manager has died, so its words stand for ever: what is granted may still be claimed. To be
   * called once, after the last plan that it told was taken with {@link #hold}.
   *
   * @param unmap run once, here or on the thread that ends the last plan: nothing reads the old
   *     arenas for this session any more, and nothing will
   */
  public void managerDied(Runnable unmap) {
    synchronized (this) {
      if (this.unmap != null) {
        throw new IllegalStateException("the Manager's death was told before");
      }
      for (int record = 0; record < claims.length; record++) {
        holdIfGranted(record);
      }
      this.unmap = unmap;
    }
    claimEnded();
  }

  /** Cancels every plan that was not claimed: the one who would say so is gone. */
  public void cancelHeld() {
    for (RestoreClaim claim : snapshot()) {
      if (claim != null && isHeld(claim)) {
        var _ = claim.cancel();
      }
    }
  }

  private void holdIfGranted(int record) {
    long word = manager.apply(record).load();
    long generation = RestoreWord.generation(word);
    boolean granted = ManagerState.read(word, generation) == ManagerState.GRANTED;
    RestoreClaim last = claims[record];
    if (last != null && isHeld(last) && !(granted && last.generation() == generation)) {
      var _ = last.cancel();
    }
    if (granted && (last == null || last.generation() < generation)) {
      var _ = hold(record, generation);
    }
  }

  private static boolean isHeld(RestoreClaim claim) {
    return claim.phase() == RestoreClaim.Phase.HELD;
  }

  private void claimEnded() {
    Runnable action = null;
    synchronized (this) {
      boolean open = false;
      for (RestoreClaim claim : claims) {
        open |= claim != null && claim.phase() != RestoreClaim.Phase.ENDED;
      }
      if (!open) {
        action = unmap;
        unmap = null;
      }
    }
    if (action != null) {
      action.run();
    }
  }

  private synchronized @Nullable RestoreClaim[] snapshot() {
    return claims.clone();
  }
}
