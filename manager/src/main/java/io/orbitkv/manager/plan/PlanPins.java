package io.orbitkv.manager.plan;

import io.orbitkv.manager.restore.PinnedSource;
import java.util.List;

/** The pins on the blocks of one plan. Owned by the plan; for one thread at a time. */
public interface PlanPins extends PinnedSource {
  /**
   * A block that is pinned.
   *
   * @param arena index of its arena
   * @param offset in that arena, bytes
   * @param bytes its length
   * @param generation of its allocation
   */
  record Pinned(int arena, long offset, long bytes, long generation) {}

  /** The blocks, in the order they were asked for. */
  List<Pinned> blocks();

  /** Ends the pins of all but the first so many blocks. */
  void keepFirst(int count);
}
