package io.orbitkv.bench;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Permission;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.Protection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * One transport with a pool registered at it, and the little of a Manager that it needs: names,
 * receipts, and the order of the end. Thread-safe; owned by who opened it.
 */
final class BenchEngine implements AutoCloseable {
  private static final long OUTCOME_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long RECEIPT_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long DRAIN_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long RECEIPT_POLL_NANOS = 1_000;

  private final ReceiptIssuer issuer;
  private final Transport transport;
  private final Fd memfd;
  private final Mapping pool;
  private final Registration registration;
  private final long registrationNanos;
  private final Epoch manager = Epoch.random();
  private final AtomicLong numbers = new AtomicLong();
  private final Map<GrantId, SourceHold> holds = new ConcurrentHashMap<>();

  private BenchEngine(
      ReceiptIssuer issuer,
      Transport transport,
      Fd memfd,
      Mapping pool,
      Registration registration,
      long registrationNanos) {
    this.issuer = issuer;
    this.transport = transport;
    this.memfd = memfd;
    this.pool = pool;
    this.registration = registration;
    this.registrationNanos = registrationNanos;
  }

  /**
   * Opens the transport, makes the pool and registers it.
   *
   * @param host IP literal of this host
   * @throws TransportException if the provider can not be opened, or refuses the pool
   */
  static BenchEngine open(
      TransportProvider provider, Map<String, String> options, String host, long poolBytes) {
    BenchContext context = new BenchContext(provider, options, host);
    Fd memfd = Memfd.create("orbitkv-bench", poolBytes);
    try {
      Memfd.addSeals(memfd, Memfd.F_SEAL_SHRINK | Memfd.F_SEAL_GROW);
      Mapping pool = Mapping.map(memfd, 0, poolBytes, Protection.READ_WRITE, false);
      try {
        // As a Manager's arena.
        pool.populateHuge();
        pool.dontFork();
        Transport transport = provider.open(context);
        try {
          long begun = System.nanoTime();
          Registration registration = transport.register(region(memfd, pool));
          long nanos = System.nanoTime() - begun;
          return new BenchEngine(context.receipts(), transport, memfd, pool, registration, nanos);
        } catch (RuntimeException e) {
          transport.close();
          throw e;
        }
      } catch (RuntimeException e) {
        pool.close();
        throw e;
      }
    } catch (RuntimeException e) {
      memfd.close();
      throw e;
    }
  }

  private static Region region(Fd memfd, Mapping pool) {
    return new Region(
        new RegionId(1, 1),
        memfd.number(),
        0,
        pool.segment(),
        MemoryKind.HOST,
        Permission.READ_WRITE,
        Region.Backing.BORROWED);
  }

  Transport transport() {
    return transport;
  }

  Mapping pool() {
    return pool;
  }

  long registrationNanos() {
    return registrationNanos;
  }

  RegionId region() {
    return registration.region().id();
  }

  /** Lets one requester read the whole pool. */
  SourceHold admit(Epoch requester) {
    GrantId grant = new GrantId(numbers.incrementAndGet(), 1, transport.epoch());
    issuer.open(grant);
    Descriptor all = Descriptor.of(region(), 0, pool.bytes());
    try {
      SourceHold hold = transport.admit(new Transport.Admission(grant, requester, List.of(all)));
      holds.put(grant, hold);
      return hold;
    } catch (TransportException e) {
      issuer.spend(issuer.neverSubmitted(grant), grant);
      throw e;
    }
  }

  /** Submits under a new name. */
  Ticket read(Peer peer, Batch batch) {
    TicketId id = new TicketId(numbers.incrementAndGet(), manager);
    issuer.open(id);
    try {
      return peer.read(batch, id, Peer.TicketOptions.NONE);
    } catch (TransportException e) {
      issuer.spend(issuer.neverSubmitted(id), id);
      throw e;
    }
  }

  /**
   * Waits for a ticket's outcome.
   *
   * @throws TransportException DEADLINE after 30 s; the ticket was cancelled then
   */
  static Outcome await(Ticket ticket) throws InterruptedException {
    Optional<Outcome> outcome = ticket.await(OUTCOME_NANOS);
    if (outcome.isEmpty()) {
      ticket.cancel();
      throw new TransportException(
          FaultCode.DEADLINE, ticket.id() + ": no outcome in 30 s; look at the owner's process");
    }
    return outcome.get();
  }

  /**
   * Waits for a settled ticket's receipt, and spends it.
   *
   * @throws TransportException QUARANTINED if none came in 10 s
   */
  void spend(Ticket ticket) {
    Optional<DrainReceipt> receipt = ticket.drain();
    if (receipt.isEmpty()) {
      long end = System.nanoTime() + RECEIPT_NANOS;
      do {
        LockSupport.parkNanos(RECEIPT_POLL_NANOS);
        receipt = ticket.drain();
      } while (receipt.isEmpty() && System.nanoTime() - end < 0);
    }
    issuer.spend(
        receipt.orElseThrow(
            () ->
                new TransportException(
                    FaultCode.QUARANTINED,
                    ticket.id() + ": no receipt in 10 s; its memory stays held")),
        ticket.id());
  }

  /**
   * Ends it in the order of withdrawal.
   *
   * @throws TransportException IN_USE if something has no receipt: its memory stays mapped then
   */
  @Override
  public void close() {
    transport.quiesce();
    long deadline = System.nanoTime() + DRAIN_NANOS;
    for (DrainReceipt receipt : transport.closeSource(deadline)) {
      issuer.spend(receipt, receipt.subject());
      if (receipt.subject() instanceof GrantId grant) {
        holds.remove(grant);
      }
    }
    if (!holds.isEmpty()) {
      throw new TransportException(
          FaultCode.IN_USE, holds.keySet() + " have no receipt; their memory stays mapped");
    }
    registration.close();
    transport.close();
    pool.close();
    memfd.close();
  }
}
