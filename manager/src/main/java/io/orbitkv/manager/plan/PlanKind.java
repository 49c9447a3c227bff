package io.orbitkv.manager.plan;

import io.orbitkv.adapter.plan.PlanHeader;

/** What a plan was asked for as. */
public enum PlanKind {
  /** Blocks told to an instance, pinned without expiry, and bounded in bytes. */
  PROMISE(PlanHeader.PROMISE),
  /** Blocks of a lease, which it uses up. */
  RESTORE(PlanHeader.RESTORE);

  private final long wire;

  PlanKind(long wire) {
    this.wire = wire;
  }

  long wire() {
    return wire;
  }
}
