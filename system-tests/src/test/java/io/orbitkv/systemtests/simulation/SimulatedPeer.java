package io.orbitkv.systemtests.simulation;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
import io.orbitkv.manager.memory.Allocation;
import io.orbitkv.manager.memory.HoldKind;
import java.util.ArrayList;
import java.util.List;

/** A remote incarnation as its requester sees it, over two connections. */
final class SimulatedPeer implements Peer {
  private static final int LANES = 2;

  private final SimulatedTransport transport;
  private final World world;
  private final Host host;
  private final Epoch epoch;
  private final List<Connection> lanes = new ArrayList<>();
  private boolean closed;

  SimulatedPeer(SimulatedTransport transport, World world, Host host, Epoch epoch) {
    this.transport = transport;
    this.world = world;
    this.host = host;
    this.epoch = epoch;
  }

  @Override
  public Epoch epoch() {
    return epoch;
  }

  @Override
  public RemoteRegion importRegion(byte[] wireForm) {
    return WireForm.read(wireForm, epoch);
  }

  @Override
  public Ticket read(Batch batch, TicketId id, TicketOptions options) {
    if (closed || transport.quiesced()) {
      throw new TransportException(FaultCode.CLOSING, "no more batches");
    }
    if (world.refuses()) {
      throw new TransportException(FaultCode.EXHAUSTED, "no room for a batch");
    }
    if (world.isDefective()) {
      world.oracle().excuse(id);
      throw new IllegalStateException("a planted defect of the provider");
    }
    List<Descriptor> locals = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      locals.add(batch.local(i));
    }
    List<Allocation> destination =
        world.oracle().heldFor(transport.manager(), id, HoldKind.DESTINATION, locals);
    SimulatedTicket ticket = new SimulatedTicket(transport, world, id, destination);
    world.oracle().watch(ticket);
    for (int i = 0; i < batch.size(); i++) {
      Connection lane = lane();
      Piece piece =
          new Piece(
              ticket,
              transport.nextRequestId(),
              batch.local(i),
              batch.remote(i),
              lane,
              new boolean[Piece.CHUNKS],
              new boolean[Piece.CHUNKS]);
      ticket.add(piece);
      transport.remember(piece);
      send(piece, (WireForm) batch.source());
    }
    return ticket;
  }

  private void send(Piece piece, WireForm source) {
    ReadFrame frame =
        new ReadFrame(
            piece.connection(),
            piece.requestId(),
            transport.epoch(),
            epoch,
            source.grant(),
            source.token(),
            piece.remote().range(),
            piece.remote().offset(),
            piece.remote().length());
    world.send(
        host,
        frame,
        there -> there.transport().serve(frame),
        () -> transport.lostOnTheWay(frame.connection()));
  }

  private Connection lane() {
    lanes.removeIf(Connection::requesterClosed);
    if (lanes.size() < LANES) {
      lanes.add(new Connection(world, transport.nextConnection(), transport, host));
      return lanes.getLast();
    }
    return world.chance().of(lanes);
  }

  /** Breaks one of its connections, if there are any. */
  void cutOne() {
    if (!lanes.isEmpty()) {
      world.chance().of(lanes).cut();
    }
  }

  /** Its own Manager died: the owner hears of it. */
  void requesterDied() {
    lanes.forEach(Connection::requesterDied);
  }

  /** The Manager at that host died: the requester hears of it. */
  void hostDied(Host dead) {
    if (host == dead) {
      lanes.forEach(Connection::ownerDied);
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      lanes.forEach(lane -> lane.closeByRequester("the peer was closed"));
    }
  }
}
