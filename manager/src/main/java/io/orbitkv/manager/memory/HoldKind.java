package io.orbitkv.manager.memory;

/** Why memory is held, and what ends it. */
public enum HoldKind {
  /** A publish or a fetch owns the new allocation until it is sealed or abandoned. */
  FILLING("the copy's own end"),
  /** A ticket may write into it. */
  DESTINATION("the ticket's receipt"),
  /** A grant lets a peer read from it. */
  SOURCE("the source hold's receipt"),
  /** An engine process may read from it. */
  LEASE("the engine's release, or the exit of its process"),
  /** The engines of an instance may copy it by a plan. */
  PLAN("the engines' DRAINED or FAILED, a cancel that won, or the exit of their processes");

  private final String endedBy;

  HoldKind(String endedBy) {
    this.endedBy = endedBy;
  }

  /** What ends such a hold, for people. */
  public String endedBy() {
    return endedBy;
  }
}
