package io.orbitkv.api;

/**
 * The requester's view of what one grant lets it read: the ranges that the owner admitted, in the
 * owner's order. Made by {@link io.orbitkv.api.spi.Peer#importRegion}, immutable, and valid at the
 * peer that made it. A provider implements it and keeps keys or tokens inside.
 */
public interface RemoteRegion {
  /** The grant that this is the view of. */
  GrantId grant();

  /** How many ranges the owner admitted, at least 1. */
  int ranges();

  /**
   * Length of one range, bytes.
   *
   * @throws IndexOutOfBoundsException if {@code range} is not below {@link #ranges()}
   */
  long length(int range);
}
