package io.orbitkv.tck.template;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/** One remote incarnation: checks everything before anything begins. */
final class TemplatePeer implements Peer {
  final TemplateTransport transport;
  final URI endpoint;
  private final Epoch owner;
  private volatile boolean closed;

  record Imported(TemplatePeer peer, TemplateGrant wire) implements RemoteRegion {
    @Override
    public GrantId grant() {
      return wire.grant();
    }

    @Override
    public int ranges() {
      return wire.lengths().size();
    }

    @Override
    public long length(int range) {
      return wire.lengths().get(range);
    }
  }

  TemplatePeer(TemplateTransport transport, URI endpoint, Epoch owner) {
    this.transport = transport;
    this.endpoint = endpoint;
    this.owner = owner;
  }

  @Override
  public Epoch epoch() {
    return owner;
  }

  @Override
  public RemoteRegion importRegion(byte[] wireForm) {
    TemplateGrant wire = TemplateGrant.read(wireForm);
    if (!wire.grant().epoch().equals(owner)) {
      throw TemplateTransport.refuse(FaultCode.STALE_EPOCH, wire.grant() + " is not of " + owner);
    }
    return new Imported(this, wire);
  }

  @Override
  public Ticket read(Batch batch, TicketId id, TicketOptions options) {
    if (!(batch.source() instanceof Imported source) || source.peer() != this) {
      throw TemplateTransport.refuse(FaultCode.INVALID, batch + " was not imported here");
    }
    if (closed) {
      throw TemplateTransport.refuse(FaultCode.CLOSING, endpoint + " was closed");
    }
    checkLimits(batch);
    transport.begin();
    List<TemplateRegistration> used = new ArrayList<>();
    AdmissionBudget.Place place = null;
    try {
      for (int i = 0; i < batch.size(); i++) {
        TemplateRegistration registration = transport.use(batch.local(i));
        used.add(registration);
        if (!registration.region().permission().writable()) {
          throw TemplateTransport.refuse(FaultCode.DENIED, batch.local(i) + " is not writable");
        }
      }
      place = transport.context.budget().take(128L * batch.size());
    } catch (TransportException e) {
      used.forEach(TemplateRegistration::release);
      transport.end();
      throw e;
    }
    TemplateTicket ticket = new TemplateTicket(this, source.wire(), batch, id, used, place);
    transport.work.add(ticket);
    return ticket;
  }

  private void checkLimits(Batch batch) {
    Capabilities limits = transport.capabilities();
    long pieces = 0;
    for (int i = 0; i < batch.size(); i++) {
      pieces += Math.max(batch.local(i).count(), batch.remote(i).count());
    }
    if (batch.bytes() > limits.maxReadBytes() || pieces > limits.maxDescriptors()) {
      throw TemplateTransport.refuse(FaultCode.INVALID, batch + " is beyond the limits; split it");
    }
  }

  boolean closed() {
    return closed;
  }

  @Override
  public void close() {
    closed = true;
  }
}
