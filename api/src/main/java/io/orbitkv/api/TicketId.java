package io.orbitkv.api;

/**
 * The name of one submitted batch.
 *
 * @param id from one counter of the requesting Manager that only rises; never used again
 * @param epoch the requesting Manager's epoch
 */
public record TicketId(long id, Epoch epoch) implements ReceiptSubject {
  @Override
  public Side side() {
    return Side.DESTINATION;
  }
}
