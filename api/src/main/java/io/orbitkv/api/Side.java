package io.orbitkv.api;

/** Which half of a transfer a receipt speaks for. A receipt speaks for one side only. */
public enum Side {
  /** The requester's memory, written by a READ. */
  DESTINATION,
  /** The owner's memory, read by a READ. */
  SOURCE
}
