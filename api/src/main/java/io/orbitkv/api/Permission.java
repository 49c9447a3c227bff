package io.orbitkv.api;

/** What a provider may do with the memory of a region. */
public enum Permission {
  /** Peers may be served from it. */
  READ,
  /** It may be the destination of a READ. */
  WRITE,
  /** Both. */
  READ_WRITE;

  /** Whether a provider may read from the region. */
  public boolean readable() {
    return this != WRITE;
  }

  /** Whether a provider may write into the region. */
  public boolean writable() {
    return this != READ;
  }
}
