package io.orbitkv.tck;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;

record FaultyPeer(Peer peer, FaultPlan plan) implements Peer {
  @Override
  public Epoch epoch() {
    return peer.epoch();
  }

  @Override
  public RemoteRegion importRegion(byte[] wireForm) {
    return peer.importRegion(wireForm);
  }

  @Override
  public Ticket read(Batch batch, TicketId ticket, TicketOptions options) {
    FaultyTransport.strike(plan, FaultPlan.Point.READ, FaultCode.EXHAUSTED);
    return new FaultyTicket(peer.read(batch, ticket, options), plan);
  }

  @Override
  public void close() {
    peer.close();
  }
}
