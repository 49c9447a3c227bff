package io.orbitkv.manager.memory;

import io.orbitkv.api.Evidence;

/** Why memory is held, and what ends it. */
public enum HoldKind {
  /** A publish or a fetch owns the new allocation until it is sealed or abandoned. */
  FILLING("the copy's own end", Evidence.LOCAL_QUIESCED),
  /** A ticket may write into it. */
  DESTINATION("the ticket's receipt", Evidence.LOCAL_QUIESCED),
  /** A grant lets a peer read from it. */
  SOURCE("the source hold's receipt", Evidence.LOCAL_QUIESCED),
  /** An engine process may read from it. */
  LEASE("the engine's release, or the exit of its process", Evidence.OWNER_EXITED);

  private final String endedBy;
  private final Evidence evidence;

  HoldKind(String endedBy, Evidence evidence) {
    this.endedBy = endedBy;
    this.evidence = evidence;
  }

  /** What ends such a hold, for people. */
  public String endedBy() {
    return endedBy;
  }

  /** The evidence that such a hold usually waits for. */
  public Evidence evidence() {
    return evidence;
  }
}
