package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegistrationState;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Registration;

/**
 * The hold on one region: it counts the tickets and source holds that may touch the region until
 * their receipts are issued. Thread-safe.
 */
final class TcpRegistration implements Registration {
  private final RegionTable table;
  private final Region region;
  private int users;
  private RegistrationState state = RegistrationState.REGISTERED;

  TcpRegistration(RegionTable table, Region region) {
    this.table = table;
    this.region = region;
  }

  @Override
  public Region region() {
    return region;
  }

  /** Empty: a peer of this provider names memory by grant and range, never by region. */
  @Override
  public byte[] describe() {
    return new byte[0];
  }

  /**
   * Counts one more user.
   *
   * @throws TransportException NOT_FOUND if it is revoked or closed
   */
  synchronized void use() {
    if (state != RegistrationState.REGISTERED) {
      throw new TransportException(
          FaultCode.NOT_FOUND,
          region.id()
              + (state == RegistrationState.REVOKED
                  ? " is revoked; register it again"
                  : " is not registered"));
    }
    users++;
  }

  /** A user is drained. */
  synchronized void release() {
    if (users == 0) {
      throw new IllegalStateException(region.id() + " was released more often than used");
    }
    users--;
  }

  @Override
  public synchronized void revoke() {
    if (state != RegistrationState.REVOKED) {
      become(RegistrationState.REVOKED);
    }
  }

  @Override
  public synchronized void close() {
    if (users > 0) {
      throw new TransportException(
          FaultCode.IN_USE,
          region.id() + " is in use by " + users + " tickets and source holds; drain them first");
    }
    become(RegistrationState.CLOSED);
    table.remove(this);
  }

  private void become(RegistrationState next) {
    if (!state.canBecome(next)) {
      throw new IllegalStateException(
          "the registration of " + region.id() + " can not go from " + state + " to " + next);
    }
    state = next;
  }
}
