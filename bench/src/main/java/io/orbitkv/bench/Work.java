package io.orbitkv.bench;

/** Operations, one after the other, of one thread. */
interface Work {
  /** Blocks in one operation. */
  int batch();

  /**
   * Does one, and counts it.
   *
   * @throws io.orbitkv.api.TransportException if the other end is lost
   */
  void run(LoopTally tally) throws InterruptedException;

  /** Whether every byte that the last operation brought is the owner's. */
  boolean isAllRight();
}
