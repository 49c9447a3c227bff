package io.orbitkv.tck;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Transport;
import java.net.URI;
import java.util.List;

/**
 * A transport that fails as a plan says, and is otherwise another one; so are its registrations,
 * peers, tickets and holds.
 *
 * @param transport the other one
 * @param plan what fails
 */
public record FaultyTransport(Transport transport, FaultPlan plan) implements Transport {
  static void strike(FaultPlan plan, FaultPlan.Point point, FaultCode code) {
    if (plan.strikes(point)) {
      throw new TransportException(code, point + " fails by " + plan + "; try again");
    }
  }

  @Override
  public Epoch epoch() {
    return transport.epoch();
  }

  @Override
  public URI endpoint() {
    return transport.endpoint();
  }

  @Override
  public byte[] peerBytes() {
    return transport.peerBytes();
  }

  @Override
  public Capabilities capabilities() {
    return transport.capabilities();
  }

  @Override
  public Registration register(Region region) {
    strike(plan, FaultPlan.Point.REGISTER, FaultCode.EXHAUSTED);
    return new FaultyRegistration(transport.register(region), plan);
  }

  @Override
  public Peer connect(URI endpoint, Epoch expected, byte[] peerBytes) {
    strike(plan, FaultPlan.Point.CONNECT, FaultCode.EXHAUSTED);
    return new FaultyPeer(transport.connect(endpoint, expected, peerBytes), plan);
  }

  @Override
  public SourceHold admit(Admission admission) {
    strike(plan, FaultPlan.Point.ADMIT, FaultCode.EXHAUSTED);
    return new FaultyHold(transport.admit(admission), plan);
  }

  @Override
  public void quiesce() {
    transport.quiesce();
  }

  @Override
  public List<DrainReceipt> closeSource(long deadlineNanos) {
    return transport.closeSource(deadlineNanos);
  }

  @Override
  public void close() {
    transport.close();
  }
}
