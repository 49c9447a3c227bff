package io.orbitkv.manager.plan;

import io.orbitkv.api.TransportException;
import java.util.List;

/**
 * A plan that is asked for.
 *
 * @param asker the session that asks
 * @param kind what it is
 * @param redeemers how many sessions are to redeem it; 0 for every worker of the instance
 * @param blocks the length of each block, bytes, and which name it is, in order
 * @param pinning pins the first so many, under a name for people; uses the lease up. Throws if that
 *     has ended, and then nothing was done
 * @param answer told once, without a lock held
 */
public record PlanRequest(
    Member asker,
    PlanKind kind,
    int redeemers,
    List<Wanted> blocks,
    Pinning pinning,
    Answer answer) {
  /**
   * A block that is asked for.
   *
   * @param index what the plan names it by
   * @param bytes its length
   */
  public record Wanted(int index, long bytes) {}

  /** Pins blocks. */
  @FunctionalInterface
  public interface Pinning {
    /** Pins the first so many; throws if they can not be had. */
    PlanPins pin(int count, String name);
  }

  /** Who hears what became of it. */
  public interface Answer {
    /** It is granted. */
    void granted(Plan plan);

    /** None of it may be promised: as if no block had been found. */
    void missed();

    /** It was not granted, and never will be. */
    void refused(TransportException why);
  }

  /** Hears it and does nothing. */
  static final Answer NOBODY =
      new Answer() {
        @Override
        public void granted(Plan plan) {}

        @Override
        public void missed() {}

        @Override
        public void refused(TransportException why) {}
      };

  /** Copies the list. */
  public PlanRequest {
    blocks = List.copyOf(blocks);
  }

  /** Itself only: two that ask for the same are two. */
  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }

  /** How many of the first blocks fit so many bytes. */
  int fitting(long room) {
    long left = room;
    int count = 0;
    for (Wanted block : blocks) {
      left -= block.bytes();
      if (left < 0) {
        return count;
      }
      count++;
    }
    return count;
  }
}
