package io.orbitkv.tck.template;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.provider.GatedHold;
import io.orbitkv.api.provider.GatedTicket;
import io.orbitkv.api.provider.ImportedGrant;
import io.orbitkv.api.provider.Pieces;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
import java.lang.foreign.MemorySegment;
import java.net.URI;

/** One remote incarnation, and how its bytes come here. */
final class TemplatePeer implements Peer {
  private final TemplateTransport transport;
  private final URI endpoint;
  private final Epoch owner;
  private volatile boolean closed;

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
    return ImportedGrant.read(wireForm, this);
  }

  @Override
  public Ticket read(Batch batch, TicketId id, TicketOptions options) {
    ImportedGrant grant = ImportedGrant.of(batch, this);
    if (closed) {
      throw new TransportException(FaultCode.CLOSING, endpoint + " was closed; connect again");
    }
    GatedTicket ticket = transport.open.submit(batch, id, Evidence.LOCAL_QUIESCED, () -> {});
    transport.work.add(() -> ticket.run(() -> move(ticket, grant)));
    return ticket;
  }

  /**
   * Your wire goes here. When it returns or throws, nothing of it is inside source or destination:
   * the receipt says so.
   */
  private Outcome move(GatedTicket ticket, ImportedGrant grant) {
    TemplateTransport remote = TemplateTransport.OPEN.get(endpoint);
    if (remote == null) {
      return new Outcome.Failed(FaultCode.PEER_LOST, "nobody is at " + endpoint);
    }
    Batch batch = ticket.batch();
    GatedHold hold = remote.open.enter(grant.grant(), grant.secret(), transport.epoch());
    try {
      for (int i = 0; i < batch.size() && !ticket.ended(); i++) {
        if (closed) {
          return new Outcome.Failed(FaultCode.CLOSING, endpoint + " was closed");
        }
        MemorySegment from = hold.source(batch.remote(i));
        MemorySegment to = ticket.destination(i);
        Pieces.forEach(batch, i, (at, into, n) -> MemorySegment.copy(from, at, to, into, n));
      }
      return Outcome.COMPLETED;
    } finally {
      hold.leave();
    }
  }

  @Override
  public void close() {
    closed = true;
  }
}
