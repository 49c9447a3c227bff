package io.orbitkv.systemtests.simulation;

import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.GrantRequest;
import io.orbitkv.manager.control.PeerHello;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import io.orbitkv.manager.memory.Pool;
import java.util.List;

/**
 * What must be so when faults have stopped and everything alive was let run: every hold has ended,
 * or is in quarantine for a reason that is known; every read was answered.
 *
 * @param frozenLeft hosts that are frozen still are: the others must have ended by themselves, on
 *     their own evidence
 */
record Accounts(World world, List<SimulatedEngine> engines, boolean frozenLeft) {
  /** Whether the world is at rest, with nothing held that could end. */
  static boolean nothingLeft(World world, List<SimulatedEngine> engines) {
    for (Host host : world.hosts()) {
      SimulatedManager manager = host.manager();
      if (manager != null
          && !host.frozen()
          && !(manager.coordinator().waitingSubjects().isEmpty()
              && manager.authority().states().isEmpty()
              && manager.tickets().undrained() == 0
              && unexcused(world, manager).isEmpty())) {
        return false;
      }
    }
    return engines.stream()
        .filter(engine -> engine.manager().alive() && !engine.manager().host().frozen())
        .allMatch(engine -> engine.reads().stream().allMatch(Read::answered));
  }

  void check() {
    for (Host host : world.hosts()) {
      SimulatedManager manager = host.manager();
      if (manager != null && !host.frozen()) {
        check(manager);
      }
    }
    for (SimulatedEngine engine : engines) {
      if (engine.manager().alive() && !engine.manager().host().frozen()) {
        for (Read read : engine.reads()) {
          require(read.answered(), engine.manager(), "a read was never answered");
        }
      }
    }
  }

  private void check(SimulatedManager manager) {
    List<Hold> left = unexcused(world, manager);
    require(left.isEmpty(), manager, "holds never ended: " + left);
    require(
        manager.coordinator().waitingSubjects().isEmpty(),
        manager,
        "subjects wait for receipts for ever: " + manager.coordinator().waitingSubjects());
    require(manager.tickets().undrained() == 0, manager, "tickets are not drained");
    require(
        manager.authority().states().isEmpty(),
        manager,
        "grants never ended: " + manager.authority().states());
    require(manager.counters().refused() == 0, manager, "receipts were refused");
    Pool.Usage usage = manager.pool().usage();
    int excused = manager.pool().holds().size();
    require(
        usage.quarantinedHolds() == excused
            && usage.retired() <= usage.quarantined()
            && manager.issuer().openSubjects()
                == manager.pool().holds().stream().map(Hold::holder).distinct().count(),
        manager,
        "the accounts do not agree: "
            + usage
            + ", "
            + manager.issuer().openSubjects()
            + " subjects are open");
  }

  /** Whether the account of each peer is back at its start: it gets all grants that it may. */
  void useEveryGrant() {
    for (Host host : world.hosts()) {
      SimulatedManager owner = host.manager();
      if (owner == null || owner.closing() || !owner.canPublish(Blocks.probe())) {
        continue;
      }
      for (SimulatedLink link : owner.links().values()) {
        SimulatedManager peer = link.to().manager();
        for (int i = 0; peer != null && i < Limits.GRANTS.maxGrantsPerPeer(); i++) {
          useGrant(owner, peer.hello(), -1 - i);
        }
      }
    }
  }

  private void useGrant(SimulatedManager owner, PeerHello peer, long ticket) {
    GrantRequest request =
        new GrantRequest(
            new TicketId(ticket, peer.managerEpoch()),
            peer.transportEpoch(),
            owner.hello().transportEpoch(),
            List.of(Blocks.probe()));
    try {
      owner.grant(peer, request);
    } catch (TransportException e) {
      throw new Violation("the account of a peer of " + owner + " is not at its start", e);
    }
  }

  /** Whether every page that is not in a known quarantine can be used again. */
  void useAllMemory() {
    for (Host host : world.hosts()) {
      SimulatedManager manager = host.manager();
      if (manager != null) {
        long lost =
            manager.pool().holds().stream()
                .map(Hold::allocation)
                .distinct()
                .mapToLong(allocation -> (allocation.bytes() + Limits.PAGE - 1) / Limits.PAGE)
                .sum();
        long pages = manager.pool().capacity() / Limits.PAGE - lost;
        try {
          for (long i = 0; i < pages; i++) {
            manager.catalog().reserve(Limits.PAGE, "the end");
          }
        } catch (TransportException e) {
          throw new Violation("not all memory of " + manager + " came back", e);
        }
        requireFull(manager);
      }
    }
  }

  /** What is in quarantine is not there to be used. */
  private void requireFull(SimulatedManager manager) {
    try {
      manager.catalog().reserve(Limits.PAGE, "the end");
    } catch (TransportException e) {
      return;
    }
    throw new Violation("memory that is held was used again at " + manager);
  }

  private static List<Hold> unexcused(World world, SimulatedManager manager) {
    return manager.pool().holds().stream()
        .filter(
            hold ->
                hold.kind() == HoldKind.LEASE
                    || hold.kind() == HoldKind.FILLING
                    || !world.oracle().isExcused(hold.holder()))
        .toList();
  }

  private void require(boolean so, SimulatedManager manager, String finding) {
    if (!so) {
      throw new Violation(
          finding + " at " + manager + (frozenLeft ? ", while frozen peers stay frozen" : ""));
    }
  }
}
