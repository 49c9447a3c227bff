package io.orbitkv.tck.reference;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegistrationState;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Registration;

/** Counts the tickets and source holds that may touch a region until they are drained. */
final class ReferenceRegistration implements Registration {
  private final ReferenceTransport transport;
  private final Region region;
  private int users;
  private RegistrationState state = RegistrationState.REGISTERED;

  ReferenceRegistration(ReferenceTransport transport, Region region) {
    this.transport = transport;
    this.region = region;
  }

  @Override
  public Region region() {
    return region;
  }

  @Override
  public byte[] describe() {
    return new byte[0];
  }

  synchronized void use() {
    if (state != RegistrationState.REGISTERED) {
      throw new TransportException(
          FaultCode.NOT_FOUND, region.id() + " is revoked; register it again");
    }
    users++;
  }

  synchronized void release() {
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
    if (users > 0 && !transport.has(Defect.RELEASE_CANNOT_FAIL)) {
      throw new TransportException(
          FaultCode.IN_USE, region.id() + " has " + users + " users; drain them first");
    }
    become(RegistrationState.CLOSED);
    transport.forget(this);
  }

  private void become(RegistrationState next) {
    if (!state.canBecome(next)) {
      throw new IllegalStateException(
          "the registration of " + region.id() + " can not go from " + state + " to " + next);
    }
    state = next;
  }
}
