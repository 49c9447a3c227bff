package io.orbitkv.api.spi;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TicketId;

/**
 * One remote transport incarnation, as its requester sees it. A service: close is a no-op twice.
 */
public interface Peer extends AutoCloseable {
  /** The remote transport epoch that this was connected for. */
  Epoch epoch();

  /**
   * Makes a grant's wire form usable.
   *
   * @param wireForm what the owner's {@link SourceHold#wireForm()} returned; every number in it is
   *     checked
   * @throws io.orbitkv.api.TransportException CORRUPT if it is malformed, STALE_EPOCH if it belongs
   *     to another incarnation
   */
  RemoteRegion importRegion(byte[] wireForm);

  /**
   * Submits a READ. The caller has opened {@code ticket} at the receipt issuer and pinned the
   * destination; both stay so until the ticket's receipt is spent.
   *
   * <p>Either throws, and then nothing was handed to a device, a socket or a thread; or returns a
   * ticket. Never both, never neither. May block while the transport's own queues are full, never
   * on the peer.
   *
   * @param batch what to read; its source was imported here
   * @param ticket the name under which the receipt will be issued
   * @param options see there
   * @throws io.orbitkv.api.TransportException INVALID if a descriptor leaves its region or a limit
   *     of the capabilities is exceeded, NOT_FOUND if a local region is not registered, DENIED if
   *     it is not writable, EXHAUSTED, CLOSING, PEER_LOST
   */
  Ticket read(Batch batch, TicketId ticket, TicketOptions options);

  /**
   * Ends the connections to this peer. Tickets that are not settled fail; they still need their
   * receipts. Does not wait; does nothing the second time.
   */
  @Override
  void close();

  /**
   * How a ticket is to be run.
   *
   * @param progressTimeoutNanos without a byte for this long, the provider ends the ticket, and the
   *     connections that it was stuck on, by itself; 0: never
   */
  record TicketOptions(long progressTimeoutNanos) {
    /** No limit of its own. */
    public static final TicketOptions NONE = new TicketOptions(0);
  }
}
