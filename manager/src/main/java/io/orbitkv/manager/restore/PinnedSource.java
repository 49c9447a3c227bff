package io.orbitkv.manager.restore;

/** The pins on the source of a plan. One of the two is called, once. */
public interface PinnedSource {
  /** Nothing can read it any more for this plan: ends the pins. */
  void release();

  /** Nothing is known: the pins stay, charged and visible. */
  void quarantine();
}
