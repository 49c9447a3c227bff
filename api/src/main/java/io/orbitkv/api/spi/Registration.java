package io.orbitkv.api.spi;

import io.orbitkv.api.Region;

/**
 * The hold that a provider has on a region: an MR, a TENT registration, a pinned range. Owned by
 * whoever registered. Its life is {@link io.orbitkv.api.RegistrationState}.
 */
public interface Registration extends AutoCloseable {
  /** What it covers. */
  Region region();

  /** Opaque public form for the provider's own use at a peer; may hold addresses and keys. */
  byte[] describe();

  /**
   * Refuses, from its return on, every new use of the region: no batch and no admission may name it
   * any more. Work that has begun goes on. Repeatable.
   *
   * @throws IllegalStateException if it is closed
   */
  void revoke();

  /**
   * Ends the hold. When this returns the provider will never touch the memory again.
   *
   * @throws io.orbitkv.api.TransportException IN_USE while a ticket or a source hold over it is not
   *     drained, DEVICE if the device refused; the hold stays then, and the call can be repeated
   * @throws IllegalStateException if it is closed already
   */
  @Override
  void close();
}
