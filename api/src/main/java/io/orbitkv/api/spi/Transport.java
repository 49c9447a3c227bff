package io.orbitkv.api.spi;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.GrantId;
import java.net.URI;
import java.util.List;

/**
 * One opened engine of a {@link TransportProvider}: requester and owner at once. It has one epoch
 * for its whole life; a Manager that replaces it opens another one.
 *
 * <p>The order of the end: {@link #quiesce()}, drain of tickets and source holds, {@link
 * #closeSource(long)}, registrations closed, {@link #close()}.
 */
public interface Transport extends MemoryRegistrar, AutoCloseable {
  /** The identity of this incarnation: that of the receipt issuer it was opened with. */
  Epoch epoch();

  /** Where peers reach it, with the port that was bound. */
  URI endpoint();

  /** Opaque bytes for the peers' {@code connect}, sent with Hello; at most 4,096, may be empty. */
  byte[] peerBytes();

  /** What it binds itself to; not less than what the provider said for the same options. */
  Capabilities capabilities();

  /**
   * Makes ready to read from a peer. Does not wait for the peer: connections may be made by the
   * first read.
   *
   * @param endpoint the peer's {@link #endpoint()}
   * @param expected the peer's transport epoch; a peer of another epoch is refused before any byte
   *     moves
   * @param peerBytes the peer's {@link #peerBytes()}
   * @return the peer, owned by the caller
   * @throws io.orbitkv.api.TransportException INVALID if the endpoint is not this provider's,
   *     EXHAUSTED, CLOSING after {@link #quiesce()}
   */
  Peer connect(URI endpoint, Epoch expected, byte[] peerBytes);

  /**
   * Lets one peer read named ranges. The caller has opened {@code admission.grant()} at the receipt
   * issuer and pinned the memory.
   *
   * @return the owner's side of the grant, owned by the caller
   * @throws io.orbitkv.api.TransportException and nothing was admitted: INVALID if a range leaves
   *     its region, NOT_FOUND if a region is not registered or is revoked, DENIED if it is not
   *     readable, EXHAUSTED, CLOSING after {@link #quiesce()}
   */
  SourceHold admit(Admission admission);

  /**
   * Closes admission for good: from its return on, no new batch, connection or admission is
   * accepted. What has begun goes on. Repeatable; does not wait.
   */
  void quiesce();

  /**
   * Ends the source side: revokes every hold, refuses new entries, and waits, at most until the
   * deadline, until no handler is inside any source range.
   *
   * @param deadlineNanos of {@link System#nanoTime()}
   * @return the receipts of all holds that had none before and are drained now; the holds that are
   *     missing in it stay held, and {@link SourceHold#drain()} may still prove them later
   */
  List<DrainReceipt> closeSource(long deadlineNanos);

  /**
   * Ends the engine: its sockets, devices and threads. Does nothing the second time.
   *
   * @throws io.orbitkv.api.TransportException IN_USE while a ticket, a source hold or a
   *     registration is not ended; everything stays then, and the call can be repeated
   */
  @Override
  void close();

  /**
   * What a peer may read under one grant.
   *
   * @param grant the name, with this transport's epoch
   * @param requester the requester's transport epoch: the only one that may use it
   * @param ranges what it may read, at least one; each is contiguous and lies in a registered
   *     region
   */
  record Admission(GrantId grant, Epoch requester, List<Descriptor> ranges) {
    /** Checks that there is something to read. */
    public Admission {
      ranges = List.copyOf(ranges);
      if (ranges.isEmpty()) {
        throw new IllegalArgumentException("an admission without ranges under " + grant);
      }
      for (Descriptor range : ranges) {
        if (range.count() != 1 || range.length() == 0) {
          throw new IllegalArgumentException("an admitted range must be one piece: " + range);
        }
      }
    }
  }
}
