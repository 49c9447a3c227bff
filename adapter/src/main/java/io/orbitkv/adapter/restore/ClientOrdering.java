package io.orbitkv.adapter.restore;

/** How the loads and stores of a session's client are ordered, which says what the Manager adds. */
public enum ClientOrdering {
  /** It fences, and its stores are releases, as those of the Java client: nothing is needed. */
  FENCES,
  /**
   * It can not fence, on a processor that delays only stores behind later loads (x86-64): the
   * Manager issues membarrier between REVOKED and its read.
   */
  STORES_LATE,
  /**
   * It can not fence, on a processor that may also perform loads early or late (aarch64): as
   * STORES_LATE, and the Manager issues membarrier before it writes GRANTED and before it trusts an
   * end.
   */
  UNORDERED;

  /** That of a client on this processor. */
  public static ClientOrdering here(boolean fences) {
    if (fences) {
      return FENCES;
    }
    return System.getProperty("os.arch", "").equals("amd64") ? STORES_LATE : UNORDERED;
  }
}
