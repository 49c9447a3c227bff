package io.orbitkv.systemtests.simulation;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.Completion;
import io.orbitkv.manager.control.GrantOffer;
import io.orbitkv.manager.control.GrantRequest;
import io.orbitkv.manager.control.PeerHello;
import io.orbitkv.manager.memory.Allocation;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * What stands between a Manager and its peers: passes everything on to the real authority, unless a
 * mutant is to be planted there.
 */
final class Broken {
  private static final long FRESH = 1_000_000;

  private final World world;
  private final SimulatedManager manager;
  private final Map<TicketId, GrantId> given = new LinkedHashMap<>();

  Broken(World world, SimulatedManager manager) {
    this.world = world;
    this.manager = manager;
  }

  GrantOffer authorize(PeerHello peer, GrantRequest request) {
    try {
      GrantOffer offer = manager.authority().authorize(peer, request);
      given.put(request.ticket(), offer.grant());
      return offer;
    } catch (TransportException e) {
      if (!world.is(Mutant.REPEATED_REQUEST_GETS_SECOND_GRANT)
          || e.code() != FaultCode.GRANT_ENDED) {
        throw e;
      }
      TicketId fresh = new TicketId(request.ticket().id() + FRESH, request.ticket().epoch());
      return manager
          .authority()
          .authorize(
              peer,
              new GrantRequest(
                  fresh, request.requesterTransport(), request.ownerTransport(), request.names()));
    }
  }

  void complete(PeerHello peer, Completion completion) {
    manager.authority().complete(peer, completion);
    if (world.is(Mutant.COMPLETE_FREES_SOURCE)) {
      free(hold -> hold.holder().equals(completion.grant()));
    }
    if (world.is(Mutant.COMPLETION_OF_ANY_GENERATION)) {
      given.forEach(
          (ticket, grant) -> {
            if (ticket.epoch().equals(peer.managerEpoch())) {
              manager
                  .authority()
                  .complete(
                      peer,
                      new Completion(grant, ticket, completion.outcome(), completion.evidence()));
            }
          });
    }
  }

  void peerLost(PeerHello peer) {
    manager.authority().peerLost(peer);
    if (world.is(Mutant.PEER_LOST_FREES_SOURCE)) {
      given.forEach(
          (ticket, grant) -> {
            if (ticket.epoch().equals(peer.managerEpoch())) {
              free(hold -> hold.holder().equals(grant));
            }
          });
    }
  }

  void revoked(GrantId grant) {
    if (world.is(Mutant.EXPIRY_FREES_SOURCE)) {
      free(hold -> hold.holder().equals(grant));
    }
  }

  void afterOutcome(TicketId ticket) {
    if (world.is(Mutant.OUTCOME_FREES_DESTINATION)) {
      free(hold -> hold.holder().equals(ticket));
    }
  }

  void deadlinePassed() {
    if (world.is(Mutant.DEADLINE_FREES_DESTINATION)) {
      free(hold -> hold.kind() == HoldKind.DESTINATION);
    }
  }

  /** Frees the memory of some holds without evidence, whoever else holds it. */
  private void free(Predicate<Hold> whose) {
    List<Allocation> freed =
        manager.pool().holds().stream().filter(whose).map(Hold::allocation).distinct().toList();
    for (Allocation allocation : freed) {
      for (Hold hold : manager.pool().holds()) {
        boolean filling = hold.kind() == HoldKind.FILLING && hold.allocation() == allocation;
        if (filling) {
          manager.catalog().abandon(hold);
        } else if (hold.allocation() == allocation && whose.test(hold)) {
          hold.end();
        }
      }
    }
  }
}
