package io.orbitkv.tck.template;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
import io.orbitkv.api.spi.Registration;

/** Counts who may touch the region; can be given up when nobody may. */
final class TemplateRegistration implements Registration {
  private final TemplateTransport transport;
  private final Region region;
  private int users;
  private boolean revoked;
  private boolean closed;

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
    if (revoked || closed) {
      throw TemplateTransport.refuse(FaultCode.NOT_FOUND, region.id() + " is revoked");
    }
    users++;
  }

  synchronized void release() {
    users--;
  }

  @Override
  public synchronized void revoke() {
    revoked = true;
  }

  @Override
  public synchronized void close() {
    if (closed) {
      throw new IllegalStateException(region.id() + " is closed already");
    }
    if (users > 0) {
      throw TemplateTransport.refuse(FaultCode.IN_USE, region.id() + " has " + users + " users");
    }
    closed = true;
    transport.regions.remove(region.id());
  }
}
