package io.orbitkv.api.provider;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegistrationState;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Registration;

/** One region of a {@link RegionTable}: counts its users until their receipts. Thread-safe. */
final class RegisteredRegion implements Registration {
  private final RegionTable table;
  private final Region region;
  private final byte[] description;
  private final Runnable withdraw;
  private RegistrationState state = RegistrationState.REGISTERED;
  private int users;
  private boolean closing;

  RegisteredRegion(RegionTable table, Region region, byte[] description, Runnable withdraw) {
    this.table = table;
    this.region = region;
    this.description = description.clone();
    this.withdraw = withdraw;
  }

  @Override
  public Region region() {
    return region;
  }

  @Override
  public byte[] describe() {
    return description.clone();
  }

  /** Counts one more user, or throws NOT_FOUND. */
  synchronized void use() {
    if (state != RegistrationState.REGISTERED || closing) {
      String why = state == RegistrationState.REVOKED ? "revoked" : "closed";
      throw new TransportException(
          FaultCode.NOT_FOUND, region.id() + " is " + why + "; register it again");
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
  public void close() {
    beginClose();
    boolean withdrawn = false;
    try {
      // Without the lock: a device may take its time, and a use is refused meanwhile.
      withdraw.run();
      withdrawn = true;
    } finally {
      endClose(withdrawn);
    }
  }

  private synchronized void beginClose() {
    if (users > 0 || closing) {
      String by = closing ? "being closed" : "in use by " + users + " tickets and source holds";
      throw new TransportException(
          FaultCode.IN_USE, region.id() + " is " + by + "; drain them first and close it again");
    }
    require(RegistrationState.CLOSED);
    closing = true;
  }

  private void endClose(boolean withdrawn) {
    synchronized (this) {
      closing = false;
      if (withdrawn) {
        become(RegistrationState.CLOSED);
      }
    }
    if (withdrawn) {
      table.remove(this);
    }
  }

  private void become(RegistrationState next) {
    require(next);
    state = next;
  }

  private void require(RegistrationState next) {
    if (!state.canBecome(next)) {
      throw new IllegalStateException(
          "the registration of " + region.id() + " can not go from " + state + " to " + next);
    }
  }
}
