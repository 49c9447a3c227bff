package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
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
  private boolean revoked;
  private boolean closed;

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
    if (revoked || closed) {
      throw new TransportException(
          FaultCode.NOT_FOUND,
          region.id() + (closed ? " is not registered" : " is revoked; register it again"));
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
    revoked = true;
  }

  @Override
  public synchronized void close() {
    if (closed) {
      throw new IllegalStateException("the registration of " + region.id() + " is closed already");
    }
    if (users > 0) {
      throw new TransportException(
          FaultCode.IN_USE,
          region.id() + " is in use by " + users + " tickets and source holds; drain them first");
    }
    closed = true;
    table.remove(this);
  }
}
