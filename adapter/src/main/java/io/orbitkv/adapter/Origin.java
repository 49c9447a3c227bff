package io.orbitkv.adapter;

/** Where the Manager found a block of a leased read. */
public enum Origin {
  /** In the memory of this host's Manager when it was asked for. */
  LOCAL,
  /** Fetched from a peer for this read. */
  PEER
}
