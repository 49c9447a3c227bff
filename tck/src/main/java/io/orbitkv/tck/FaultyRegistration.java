package io.orbitkv.tck;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
import io.orbitkv.api.spi.Registration;

record FaultyRegistration(Registration registration, FaultPlan plan) implements Registration {
  @Override
  public Region region() {
    return registration.region();
  }

  @Override
  public byte[] describe() {
    return registration.describe();
  }

  @Override
  public void revoke() {
    registration.revoke();
  }

  @Override
  public void close() {
    FaultyTransport.strike(plan, FaultPlan.Point.CLOSE_REGISTRATION, FaultCode.DEVICE);
    registration.close();
  }
}
