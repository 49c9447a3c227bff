package io.orbitkv.api.spi;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.GrantId;
import java.util.Optional;

/**
 * The owner's side of one grant. From admission until its receipt, the provider may read the
 * granted ranges on the peer's behalf. The holds of one peer end without touching another peer's.
 */
public interface SourceHold {
  /** The grant that this is the owner's side of. */
  GrantId grant();

  /** Opaque bytes for the requester's {@link Peer#importRegion}: the right to read, as a secret. */
  byte[] wireForm();

  /**
   * Retires the right: from its return on no new read under this grant begins. A read that has
   * begun goes on; the provider ends one that is stuck, within the limit that the Manager
   * configured. Frees nothing. Repeatable; does not wait.
   */
  void revoke();

  /**
   * Asks for the proof that this half has ended. Never blocks; may start work that leads to it.
   *
   * @return the receipt, once; empty while the right is not retired or something may still read,
   *     and after the receipt was returned
   */
  Optional<DrainReceipt> drain();
}
