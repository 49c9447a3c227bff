package io.orbitkv.systemtests.simulation;

import io.orbitkv.api.Descriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The owner's thread that answers one READ, chunk by chunk, each read from memory as it is. */
final class Handler {
  private final SimulatedTransport transport;
  private final World world;
  private final SimulatedSource source;
  private final ReadFrame frame;
  private int chunk;

  Handler(SimulatedTransport transport, World world, SimulatedSource source, ReadFrame frame) {
    this.transport = transport;
    this.world = world;
    this.source = source;
    this.frame = frame;
  }

  /** Goes on when it is its turn and its connection has room. */
  void goOn() {
    Connection connection = frame.connection();
    world.post(
        Pending.at(
            transport.manager(),
            "handler of " + frame,
            () -> connection.ownerClosed() || connection.hasRoom(),
            this::step));
  }

  void shutDown() {
    frame.connection().closeByOwner();
  }

  private void step() {
    Connection connection = frame.connection();
    if (connection.ownerClosed()) {
      source.leave(this);
      return;
    }
    Chunk sent = new Chunk(frame, transport.epoch(), chunk, read());
    connection.sent();
    world.send(
        connection.requester().manager().host(),
        sent,
        there -> {
          sent.arrive();
          there.transport().receive(sent);
        },
        () -> {
          sent.arrive();
          transport.lostOnTheWay(connection);
        });
    if (++chunk == Piece.CHUNKS) {
      source.leave(this);
    } else {
      goOn();
    }
  }

  private byte[] read() {
    Descriptor range = source.admission().ranges().get(frame.range());
    long from = Piece.from(chunk, frame.length());
    long length = Piece.to(chunk, frame.length()) - from;
    MemorySegment arena = transport.memory();
    return arena
        .asSlice(range.offset() + frame.offset() + from, length)
        .toArray(ValueLayout.JAVA_BYTE);
  }
}
