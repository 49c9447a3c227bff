package io.orbitkv.manager.grant;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.manager.catalog.Catalog;
import io.orbitkv.manager.control.Completion;
import io.orbitkv.manager.control.ControlService;
import io.orbitkv.manager.control.GrantOffer;
import io.orbitkv.manager.control.GrantRequest;
import io.orbitkv.manager.control.PeerHello;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import io.orbitkv.manager.transfer.DrainCoordinator;
import io.orbitkv.manager.transfer.QuietTimer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The owner's half of every READ: gives grants, retires them when they are completed, revoked or
 * expired, and unpins the source when this Manager's own provider proves that half drained.
 * Complete, expiry and revoke alone free nothing.
 *
 * <p>Called on the control server's event loop; nothing here blocks. Thread-safe.
 */
public final class GrantAuthority implements ControlService, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GrantAuthority.class);

  private final Catalog catalog;
  private final Transport transport;
  private final ReceiptIssuer issuer;
  private final DrainCoordinator coordinator;
  private final GrantLimits limits;
  private final Supplier<PeerHello> self;
  private final BiConsumer<Epoch, GrantId> revoked;
  private final AtomicLong lastId = new AtomicLong();
  private final ScheduledExecutorService expiries;

  // Guarded by this.
  private final Map<TicketId, Grant> byTicket = new HashMap<>();
  private final EndedTickets ended = new EndedTickets();
  private final Map<Epoch, PeerAccount> accounts = new HashMap<>();
  private long given;
  private long refused;
  private boolean closed;

  /**
   * An authority over one transport.
   *
   * @param self what this Manager says of itself
   * @param revoked is told of a grant that was retired without its requester's word, with the
   *     requester's Manager epoch; must not block
   */
  public GrantAuthority(
      Catalog catalog,
      Transport transport,
      ReceiptIssuer issuer,
      DrainCoordinator coordinator,
      GrantLimits limits,
      Supplier<PeerHello> self,
      BiConsumer<Epoch, GrantId> revoked) {
    this(
        catalog,
        transport,
        issuer,
        coordinator,
        limits,
        self,
        revoked,
        new QuietTimer("orbitkv-grant-expiry"));
  }

  /** As above, with expiries that a simulation drives. */
  GrantAuthority(
      Catalog catalog,
      Transport transport,
      ReceiptIssuer issuer,
      DrainCoordinator coordinator,
      GrantLimits limits,
      Supplier<PeerHello> self,
      BiConsumer<Epoch, GrantId> revoked,
      ScheduledExecutorService expiries) {
    this.catalog = catalog;
    this.transport = transport;
    this.issuer = issuer;
    this.coordinator = coordinator;
    this.limits = limits;
    this.self = self;
    this.revoked = revoked;
    this.expiries = expiries;
  }

  @Override
  public PeerHello hello() {
    return self.get();
  }

  @Override
  public void accept(PeerHello peer) {
    PeerHello own = self.get();
    if (!own.provider().equals(peer.provider())) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          "backend mismatch: "
              + peer.managerName()
              + " uses "
              + peer.provider()
              + ", "
              + own.managerName()
              + " uses "
              + own.provider()
              + "; start both with the same --peer-transfer-backend");
    }
    synchronized (this) {
      checkOpen();
    }
  }

  @Override
  public long[] locate(PeerHello peer, List<BlockName> names) {
    long[] lengths = new long[names.size()];
    for (int i = 0; i < lengths.length; i++) {
      lengths[i] = catalog.locate(names.get(i));
    }
    return lengths;
  }

  @Override
  public synchronized GrantOffer authorize(PeerHello peer, GrantRequest request) {
    checkOpen();
    if (!request.ticket().epoch().equals(peer.managerEpoch())
        || !request.requesterTransport().equals(peer.transportEpoch())) {
      throw new TransportException(
          FaultCode.DENIED, peer.managerName() + " asked for a grant in another Manager's name");
    }
    if (!request.ownerTransport().equals(transport.epoch())) {
      throw new TransportException(
          FaultCode.STALE_EPOCH,
          "transport epoch "
              + request.ownerTransport()
              + " has ended, it is now "
              + transport.epoch()
              + "; say Hello again");
    }
    Grant known = byTicket.get(request.ticket());
    if (known != null && known.state() == GrantState.ACTIVE) {
      return known.offer();
    }
    if (known != null || ended.contains(request.ticket())) {
      throw new TransportException(
          FaultCode.GRANT_ENDED, "the grant of " + request.ticket() + " has ended");
    }
    try {
      return grant(peer, request);
    } catch (TransportException e) {
      refused += e.code() == FaultCode.EXHAUSTED ? 1 : 0;
      throw e;
    }
  }

  @Override
  public void complete(PeerHello peer, Completion completion) {
    Grant grant;
    synchronized (this) {
      grant = byTicket.get(completion.ticket());
      if (grant == null
          || !grant.requester().equals(peer.managerEpoch())
          || !grant.id().equals(completion.grant())) {
        return;
      }
    }
    retire(grant, "completed");
  }

  @Override
  public void peerLost(PeerHello peer) {
    List<Grant> lost;
    synchronized (this) {
      lost =
          byTicket.values().stream()
              .filter(grant -> grant.requester().equals(peer.managerEpoch()))
              .toList();
    }
    lost.forEach(grant -> retire(grant, "peer lost"));
  }

  /** Closes admission for good and retires every grant; their memory waits for evidence. */
  @Override
  public void close() {
    List<Grant> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(byTicket.values());
    }
    expiries.shutdownNow();
    for (Grant grant : all) {
      if (retire(grant, "shutdown")) {
        revoked.accept(grant.requester(), grant.id());
      }
    }
  }

  /** How many grants are in each state; those that are drained are not counted. */
  public synchronized Map<GrantState, Integer> states() {
    Map<GrantState, Integer> counts = new HashMap<>();
    byTicket.values().forEach(grant -> counts.merge(grant.state(), 1, Integer::sum));
    return counts;
  }

  /** How many grants were given so far. */
  public synchronized long given() {
    return given;
  }

  /** How many requests a limit has refused so far. */
  public synchronized long refused() {
    return refused;
  }

  private void checkOpen() {
    if (closed) {
      throw new TransportException(FaultCode.CLOSING, "this Manager is shutting down");
    }
  }

  private GrantOffer grant(PeerHello peer, GrantRequest request) {
    if (new HashSet<>(request.names()).size() < request.names().size()) {
      throw new TransportException(
          FaultCode.INVALID, peer.managerName() + " named a block twice in one request");
    }
    PeerAccount account = accounts.getOrDefault(peer.managerEpoch(), new PeerAccount());
    account.check(peer.managerName(), limits);
    long number = lastId.incrementAndGet();
    GrantId id = new GrantId(number, number, transport.epoch());
    List<Hold> source = new ArrayList<>();
    List<GrantOffer.GrantedRange> ranges = new ArrayList<>();
    List<Descriptor> descriptors = new ArrayList<>();
    long pinned = 0;
    for (int i = 0; i < request.names().size(); i++) {
      long bytes = catalog.locate(request.names().get(i));
      if (bytes > 0 && !account.fits(limits, pinned + bytes, source.size() + 1)) {
        if (source.isEmpty()) {
          throw account.full(peer.managerName(), limits, bytes);
        }
        // The requester asks again for what is left out, when it has completed some.
        break;
      }
      Catalog.Pinned pinnedBlock =
          catalog.pin(request.names().get(i), HoldKind.SOURCE, id).orElse(null);
      if (pinnedBlock != null) {
        Hold pin = pinnedBlock.hold();
        source.add(pin);
        pinned += pin.allocation().bytes();
        ranges.add(
            new GrantOffer.GrantedRange(i, pin.allocation().bytes(), pinnedBlock.block().digest()));
        descriptors.add(pin.allocation().descriptor(0, pin.allocation().bytes()));
      }
    }
    if (source.isEmpty()) {
      throw new TransportException(FaultCode.NOT_FOUND, "none of the blocks is here any more");
    }
    SourceHold hold;
    byte[] wireForm;
    try {
      hold = admit(id, peer, descriptors, source);
      wireForm = hold.wireForm();
    } catch (RuntimeException | Error e) {
      // What admit() refused by its contract has no hold any more; anything else proves nothing.
      source.forEach(Hold::quarantine);
      throw e;
    }
    GrantOffer offer = new GrantOffer(id, ranges, limits.lifetimeNanos(), wireForm);
    Grant grant = new Grant(peer.managerEpoch(), request.ticket(), source, hold, offer);
    // First of all: whatever may fail after it, the grant ends.
    grant.expiresBy(
        expiries.schedule(() -> expire(grant), limits.lifetimeNanos(), TimeUnit.NANOSECONDS));
    byTicket.put(request.ticket(), grant);
    given++;
    accounts
        .computeIfAbsent(peer.managerEpoch(), _ -> new PeerAccount())
        .add(grant.bytes(), source.size());
    return offer;
  }

  /** Ends the source's holds if the provider refused: nothing was admitted then. */
  private SourceHold admit(
      GrantId id, PeerHello peer, List<Descriptor> descriptors, List<Hold> source) {
    issuer.open(id);
    try {
      return transport.admit(new Transport.Admission(id, peer.transportEpoch(), descriptors));
    } catch (TransportException e) {
      coordinator.neverSubmitted(id);
      source.forEach(Hold::end);
      throw e;
    }
  }

  private void expire(Grant grant) {
    if (retire(grant, "expired")) {
      LOG.info("grant expired: {} of {} bytes", grant.id(), grant.bytes());
      revoked.accept(grant.requester(), grant.id());
    }
  }

  private boolean retire(Grant grant, String why) {
    synchronized (this) {
      if (grant.state() != GrantState.ACTIVE) {
        return false;
      }
      grant.become(GrantState.RETIRED);
      grant.hold().revoke();
    }
    LOG.debug("grant retired: {}: {}", grant.id(), why);
    coordinator.watch(grant.id(), grant.hold()::drain, new SourceDrain(grant));
    return true;
  }

  private final class SourceDrain implements DrainCoordinator.Listener {
    private final Grant grant;

    SourceDrain(Grant grant) {
      this.grant = grant;
    }

    @Override
    public void drained(DrainReceipt receipt) {
      synchronized (GrantAuthority.this) {
        grant.become(GrantState.DRAINED);
        byTicket.remove(grant.ticket());
        ended.add(grant.ticket());
        PeerAccount account = accounts.get(grant.requester());
        if (account != null) {
          account.remove(grant.bytes(), grant.source().size());
          if (account.empty()) {
            accounts.remove(grant.requester());
          }
        }
      }
      grant.source().forEach(Hold::end);
    }

    @Override
    public void quarantined() {
      synchronized (GrantAuthority.this) {
        grant.become(GrantState.QUARANTINED);
      }
      grant.source().forEach(Hold::quarantine);
    }
  }
}
