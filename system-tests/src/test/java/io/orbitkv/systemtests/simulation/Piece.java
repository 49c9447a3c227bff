package io.orbitkv.systemtests.simulation;

import io.orbitkv.api.Descriptor;
import io.orbitkv.api.RemoteDescriptor;

/**
 * One entry of a ticket: one READ frame, whose reply comes in two chunks.
 *
 * @param requestId names it on the wire, within the requester's transport epoch
 */
@SuppressWarnings("ArrayRecordComponent") // mutable marks, never compared
record Piece(
    SimulatedTicket ticket,
    long requestId,
    Descriptor local,
    RemoteDescriptor remote,
    Connection connection,
    boolean[] begun,
    boolean[] done) {
  static final int CHUNKS = 2;

  /** Where a chunk of so many bytes begins. */
  static long from(int chunk, long length) {
    return chunk * (length / CHUNKS);
  }

  /** Where it ends. */
  static long to(int chunk, long length) {
    return chunk == CHUNKS - 1 ? length : from(chunk + 1, length);
  }

  boolean complete() {
    return done[0] && done[1];
  }

  @Override
  public String toString() {
    return "entry " + requestId + " of ticket " + ticket.id().id();
  }
}
