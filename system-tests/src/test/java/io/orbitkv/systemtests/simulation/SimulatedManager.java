package io.orbitkv.systemtests.simulation;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.manager.catalog.Catalog;
import io.orbitkv.manager.catalog.LeaseTable;
import io.orbitkv.manager.catalog.SteppedLeases;
import io.orbitkv.manager.control.Completion;
import io.orbitkv.manager.control.GrantOffer;
import io.orbitkv.manager.control.GrantRequest;
import io.orbitkv.manager.control.PeerHello;
import io.orbitkv.manager.grant.GrantAuthority;
import io.orbitkv.manager.grant.SteppedGrants;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.LentArenas;
import io.orbitkv.manager.memory.MemoryArena;
import io.orbitkv.manager.memory.Pool;
import io.orbitkv.manager.transfer.DrainCoordinator;
import io.orbitkv.manager.transfer.ReceiptCounters;
import io.orbitkv.manager.transfer.RemotePeers;
import io.orbitkv.manager.transfer.SteppedTransfers;
import io.orbitkv.manager.transfer.Tickets;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One incarnation of a Manager: the real state classes, put together as the Manager does, over the
 * simulated transport, links and timers.
 */
final class SimulatedManager {
  private final World world;
  private final Host host;
  private final int incarnation;
  private final Epoch epoch;
  private final MemoryArena arena;
  private final Pool pool;
  private final Catalog catalog;
  private final LeaseTable leases;
  private final ReceiptIssuer issuer;
  private final ReceiptCounters counters = new ReceiptCounters();
  private final DrainCoordinator coordinator;
  private final Tickets tickets;
  private final SimulatedTransport transport;
  private final RemotePeers peers;
  private final SteppedTransfers transfers;
  private final GrantAuthority authority;
  private final PeerHello hello;
  private final Broken broken;
  private final Map<Host, SimulatedLink> links = new LinkedHashMap<>();
  private final Map<GrantId, Long> givenAt = new HashMap<>();
  private final Map<GrantId, Epoch> givenTo = new HashMap<>();
  private final Set<GrantId> completed = new HashSet<>();
  private final Set<Epoch> lost = new HashSet<>();
  private boolean alive = true;
  private boolean closing;

  SimulatedManager(World world, Host host, int incarnation) {
    this.world = world;
    this.host = host;
    this.incarnation = incarnation;
    this.epoch = world.chance().epoch();
    Epoch transportEpoch = world.chance().epoch();
    this.arena = world.arena();
    this.pool = LentArenas.pool(arena);
    this.catalog = new Catalog(pool);
    this.leases = SteppedLeases.table(Limits.LEASE_LIFETIME, world::now);
    this.issuer = new ReceiptIssuer("simulated", transportEpoch, SimulatedTransport.EVIDENCE);
    this.coordinator =
        SteppedTransfers.coordinator(
            issuer,
            counters,
            2 * Limits.RETIREMENT_GRACE,
            new SimulatedTimers(world, this, "receipts are asked for again"),
            world::now);
    this.tickets = new Tickets(epoch, issuer, coordinator, Peer.TicketOptions.NONE);
    this.transport = new SimulatedTransport(this, world, transportEpoch);
    this.peers = new RemotePeers(transport, Long.MAX_VALUE);
    this.transfers =
        SteppedTransfers.of(
            pool,
            catalog,
            tickets,
            Limits.TRANSFERS,
            new SimulatedTimers(world, this, "a digest is compared"),
            transportEpoch,
            peers);
    this.hello =
        new PeerHello(
            epoch,
            toString(),
            host.address(),
            "simulated",
            transportEpoch,
            transport.endpoint(),
            transport.peerBytes());
    this.broken = new Broken(world, this);
    this.authority =
        SteppedGrants.authority(
            catalog,
            transport,
            issuer,
            coordinator,
            Limits.GRANTS,
            () -> hello,
            this::revoked,
            new SimulatedTimers(world, this, "a grant expires"));
    for (Host other : world.hosts()) {
      if (other != host) {
        links.put(other, new SimulatedLink(this, world, other));
      }
    }
  }

  // What it is.

  Host host() {
    return host;
  }

  boolean alive() {
    return alive;
  }

  boolean closing() {
    return closing;
  }

  Epoch epoch() {
    return epoch;
  }

  PeerHello hello() {
    return hello;
  }

  Pool pool() {
    return pool;
  }

  MemorySegment memory() {
    return arena.memory();
  }

  Catalog catalog() {
    return catalog;
  }

  LeaseTable leases() {
    return leases;
  }

  ReceiptIssuer issuer() {
    return issuer;
  }

  ReceiptCounters counters() {
    return counters;
  }

  DrainCoordinator coordinator() {
    return coordinator;
  }

  Tickets tickets() {
    return tickets;
  }

  GrantAuthority authority() {
    return authority;
  }

  SimulatedTransport transport() {
    return transport;
  }

  RemotePeers peers() {
    return peers;
  }

  SteppedTransfers transfers() {
    return transfers;
  }

  Broken broken() {
    return broken;
  }

  Map<Host, SimulatedLink> links() {
    return links;
  }

  // What its peers say.

  /** Somebody at that address asks for a grant. */
  void authorize(Stream on, long correlation, GrantRequest request) {
    GrantOffer offer = null;
    TransportException refusal = null;
    try {
      offer = grant(on.requester(), request);
    } catch (TransportException e) {
      refusal = e;
    } catch (IllegalStateException e) {
      refusal = new TransportException(FaultCode.INTERNAL, "a defect of the owner", e);
    }
    answer(on, correlation, request.ticket(), offer, refusal);
  }

  /** Asks the real authority. */
  GrantOffer grant(PeerHello requester, GrantRequest request) {
    GrantOffer offer = broken.authorize(requester, request);
    givenAt.putIfAbsent(offer.grant(), world.now());
    givenTo.put(offer.grant(), requester.managerEpoch());
    world.oracle().granted(this, request.ticket(), offer.grant());
    return offer;
  }

  private void answer(
      Stream on,
      long correlation,
      TicketId ticket,
      @Nullable GrantOffer offer,
      @Nullable TransportException refusal) {
    String what = offer == null ? refusal(refusal) : "grant " + offer.grant().id();
    world.send(
        on.from().host(),
        what + " for ticket " + ticket.id() + " on " + on,
        there -> there.link(host).answered(on, correlation, ticket, offer, refusal),
        () -> {});
  }

  private static String refusal(@Nullable TransportException refusal) {
    return refusal == null ? "nothing" : "refusal " + refusal.code();
  }

  SimulatedLink link(Host to) {
    SimulatedLink link = links.get(to);
    if (link == null) {
      throw new IllegalStateException("no link of " + this + " to " + to);
    }
    return link;
  }

  /** Somebody at that address is done with a grant. */
  void complete(Stream on, Completion completion) {
    if (on.requester().managerEpoch().equals(completion.ticket().epoch())) {
      completed.add(completion.grant());
    }
    broken.complete(on.requester(), completion);
  }

  /** A peer's last stream has ended. */
  void peerLost(PeerHello peer) {
    lost.add(peer.managerEpoch());
    broken.peerLost(peer);
  }

  private void revoked(Epoch requester, GrantId grant) {
    broken.revoked(grant);
    for (Host to : links.keySet()) {
      SimulatedManager there = to.manager();
      if (there != null && there.epoch().equals(requester)) {
        world.send(
            to,
            "revoked: grant " + grant.id() + " of " + this,
            now -> now.peers().grantRevoked(now.link(host), grant),
            () -> {});
      }
    }
  }

  /** A grant's token is about to be retired: somebody must have asked for it, or its time be up. */
  void checkReasonToRetire(GrantId grant) {
    Long since = givenAt.get(grant);
    Epoch requester = givenTo.get(grant);
    boolean due = since != null && world.now() - since >= Limits.GRANT_LIFETIME;
    boolean gone = requester != null && lost.contains(requester);
    if (!due && !gone && !closing && !completed.contains(grant)) {
      throw new Violation("grant " + grant.id() + " of " + this + " was retired for no reason");
    }
  }

  /** The provider told the outcome of a ticket. */
  void afterOutcome(TicketId ticket) {
    broken.afterOutcome(ticket);
  }

  /** Publishes a block at once, if there is room for it. */
  boolean canPublish(BlockName name) {
    try {
      Hold filling = catalog.reserve(Blocks.bytes(name), name);
      Blocks.fill(name, filling.allocation().memory(), 0, Blocks.bytes(name));
      catalog.seal(name, filling);
      return true;
    } catch (TransportException e) {
      return false;
    }
  }

  // How it ends.

  /** Begins the orderly end, in the order of withdrawal. */
  void shutdown() {
    closing = true;
    authority.close();
    transport.quiesce();
    tickets.close();
    transport.closeSource(0).forEach(coordinator::accept);
    links.values().forEach(link -> link.down("shutdown"));
    world.after(Limits.GRANT_LIFETIME, Pending.at(this, "exits", this::die));
  }

  /** The process is gone: nothing of it happens any more. */
  void die() {
    alive = false;
    host.stopped();
    transport.died();
    links.values().forEach(SimulatedLink::died);
    world.forgetTheDead();
    for (Host other : world.hosts()) {
      SimulatedManager there = other.manager();
      if (there != null) {
        there.transport().hostDied(host);
        world.post(Pending.at(there, "the stream to " + this + " broke", () -> lostPeer(there)));
      }
    }
  }

  private void lostPeer(SimulatedManager there) {
    SimulatedLink link = there.link(host);
    if (link.hello().filter(hello::equals).isPresent()) {
      link.down("the peer died");
    }
  }

  @Override
  public String toString() {
    return host.address() + incarnation;
  }
}
