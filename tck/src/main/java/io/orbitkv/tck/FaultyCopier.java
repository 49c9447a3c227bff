package io.orbitkv.tck;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.DeviceCopier;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.Ticket;
import java.util.List;

/**
 * A device copier that fails as a plan says, and is otherwise another one.
 *
 * @param copier the other one
 * @param plan what fails
 */
public record FaultyCopier(DeviceCopier copier, FaultPlan plan) implements DeviceCopier {
  @Override
  public Capabilities capabilities() {
    return copier.capabilities();
  }

  @Override
  public Registration register(Region region) {
    FaultyTransport.strike(plan, FaultPlan.Point.REGISTER, FaultCode.EXHAUSTED);
    return new FaultyRegistration(copier.register(region), plan);
  }

  @Override
  public Region importDevice(RegionId id, byte[] envelope) {
    return copier.importDevice(id, envelope);
  }

  @Override
  public Ticket copy(List<Copy> copies, byte[] readyEvent, TicketId ticket) {
    FaultyTransport.strike(plan, FaultPlan.Point.READ, FaultCode.EXHAUSTED);
    return new FaultyTicket(copier.copy(copies, readyEvent, ticket), plan);
  }

  @Override
  public void quiesce() {
    copier.quiesce();
  }

  @Override
  public void close() {
    copier.close();
  }
}
