package io.orbitkv.tck.template;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegistrationState;
import io.orbitkv.api.spi.Registration;

/** Counts who may touch the region; can be given up when nobody may. */
final class TemplateRegistration implements Registration {
  private final TemplateTransport transport;
  private final Region region;
  private int users;
  private RegistrationState state = RegistrationState.REGISTERED;

  TemplateRegistration(TemplateTransport transport, Region region) {
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
      throw TemplateTransport.refuse(FaultCode.NOT_FOUND, region.id() + " is revoked");
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
    if (users > 0) {
      throw TemplateTransport.refuse(FaultCode.IN_USE, region.id() + " has " + users + " users");
    }
    become(RegistrationState.CLOSED);
    transport.regions.remove(region.id());
  }

  private void become(RegistrationState next) {
    if (!state.canBecome(next)) {
      throw new IllegalStateException(region.id() + " can not go from " + state + " to " + next);
    }
    state = next;
  }
}
