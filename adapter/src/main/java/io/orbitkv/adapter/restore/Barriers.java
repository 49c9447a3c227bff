package io.orbitkv.adapter.restore;

/** What orders a store before a later load. Thread-safe. */
public interface Barriers {
  /** A full fence of the calling thread. */
  void fence();

  /**
   * A full fence of the calling thread, and of every running thread of every process that has
   * registered for it.
   */
  void membarrier();
}
