package io.orbitkv.manager.control;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.TicketId;
import java.util.List;

/**
 * Asks an owner for permission to read blocks. Asked under the ticket's id: the same request again
 * gets the same grant.
 *
 * @param ticket the requester's name for it, with its Manager epoch
 * @param requesterTransport the requester's transport epoch, the only one that may use the grant
 * @param ownerTransport the transport epoch that the requester believes the owner to have; another
 *     one is refused, STALE_EPOCH
 * @param names the blocks, each once
 */
public record GrantRequest(
    TicketId ticket, Epoch requesterTransport, Epoch ownerTransport, List<BlockName> names) {
  /** Copies the list. */
  public GrantRequest {
    names = List.copyOf(names);
  }
}
