package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.Side;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Peer.TicketOptions;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import io.orbitkv.api.spi.Transport;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One transport with the little of a Manager that it needs. {@link #close()} ends everything in the
 * order that the SPI names and fails if something is left. Thread-safe.
 */
public final class KitEngine implements AutoCloseable {
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final ProviderFixture fixture;
  private final KitContext context;
  private final Transport transport;
  private final Epoch manager = Epoch.random();
  private final List<GuardedMemory> memories = new CopyOnWriteArrayList<>();
  private final List<Registration> registrations = new CopyOnWriteArrayList<>();
  private final List<Peer> peers = new CopyOnWriteArrayList<>();
  private final ConcurrentHashMap<TicketId, Ticket> tickets = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<GrantId, SourceHold> holds = new ConcurrentHashMap<>();
  private boolean closed;

  KitEngine(ProviderFixture fixture, int limit) {
    this.fixture = fixture;
    this.context = new KitContext(fixture, limit);
    this.transport = fixture.provider().open(context);
  }

  /** What was lent to the engine. */
  public KitContext context() {
    return context;
  }

  /** The engine under test. */
  public Transport transport() {
    return transport;
  }

  /** Memory between red zones, not registered. */
  public GuardedMemory memory(long bytes) {
    return memory(MemoryKind.HOST, bytes);
  }

  /** Memory of a kind between red zones, not registered. */
  public GuardedMemory memory(MemoryKind kind, long bytes) {
    GuardedMemory memory = new GuardedMemory(fixture, kind, bytes);
    memories.add(memory);
    return memory;
  }

  /** Registers for both directions; the registration is closed with the engine. */
  public Region register(GuardedMemory memory) {
    return registration(memory, Permission.READ_WRITE).region();
  }

  /** Registers; the registration is closed with the engine unless it was {@link #forget}. */
  public Registration registration(GuardedMemory memory, Permission permission) {
    Registration registration = transport.register(memory.region(permission));
    registrations.add(registration);
    return registration;
  }

  /** The test has closed this registration itself. */
  public void forget(Registration registration) {
    registrations.remove(registration);
  }

  /** A name for a grant of this engine, opened at the issuer. */
  public GrantId grantId() {
    GrantId grant = new GrantId(NUMBERS.incrementAndGet(), 1, transport.epoch());
    context.receipts().open(grant);
    return grant;
  }

  /** Admits ranges for a requester; revoked and drained with the engine. */
  public SourceHold admit(Epoch requester, Descriptor... ranges) {
    GrantId grant = grantId();
    try {
      SourceHold hold = transport.admit(new Transport.Admission(grant, requester, List.of(ranges)));
      holds.put(grant, hold);
      return hold;
    } catch (RuntimeException e) {
      // Throwing promises that nothing was admitted: only then can this receipt be minted.
      context.receipts().spend(context.receipts().neverSubmitted(grant), grant);
      throw e;
    }
  }

  /** Admits a whole region. */
  public SourceHold admit(Epoch requester, Region region) {
    return admit(requester, Descriptor.of(region.id(), 0, region.length()));
  }

  /** Keeps a peer, to be closed with the engine. */
  public Peer keep(Peer peer) {
    peers.add(peer);
    return peer;
  }

  /** Submits without options. */
  public Ticket read(Peer peer, Batch batch) {
    return read(peer, batch, TicketOptions.NONE);
  }

  /**
   * Submits under a new name. If the provider throws, its promise that nothing was submitted is
   * held to: the name's receipt is minted and spent.
   */
  public Ticket read(Peer peer, Batch batch, TicketOptions options) {
    TicketId id = new TicketId(NUMBERS.incrementAndGet(), manager);
    context.receipts().open(id);
    try {
      Ticket ticket = peer.read(batch, id, options);
      assertThat(ticket.id()).as("the ticket's name").isEqualTo(id);
      tickets.put(id, ticket);
      return ticket;
    } catch (RuntimeException e) {
      context.receipts().spend(context.receipts().neverSubmitted(id), id);
      throw e;
    }
  }

  /** Waits for a ticket's receipt, checks it, spends it. */
  public Evidence spend(Ticket ticket) {
    return spend(ticket, Await.receipt("receipt of " + ticket.id(), ticket::drain));
  }

  /** Checks and spends a ticket's receipt. */
  public Evidence spend(Ticket ticket, DrainReceipt receipt) {
    checkEvidence(receipt, Side.DESTINATION);
    context.receipts().spend(receipt, ticket.id());
    tickets.remove(ticket.id());
    return receipt.evidence();
  }

  /** Waits for a hold's receipt, checks it, spends it. */
  public Evidence spend(SourceHold hold) {
    return spend(hold, Await.receipt("receipt of " + hold.grant(), hold::drain));
  }

  /** Checks and spends a hold's receipt. */
  public Evidence spend(SourceHold hold, DrainReceipt receipt) {
    checkEvidence(receipt, Side.SOURCE);
    context.receipts().spend(receipt, hold.grant());
    holds.remove(hold.grant());
    return receipt.evidence();
  }

  private void checkEvidence(DrainReceipt receipt, Side side) {
    assertThat(receipt.subject().side()).isEqualTo(side);
    if (receipt.evidence() != Evidence.NEVER_SUBMITTED) {
      assertThat(transport.capabilities().evidence(side)).contains(receipt.evidence());
    }
  }

  /** Ends everything in order. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    transport.quiesce();
    for (Ticket ticket : tickets.values()) {
      ticket.cancel();
    }
    for (Ticket ticket : tickets.values()) {
      var _ = Await.outcome(ticket);
      var _ = spend(ticket);
    }
    for (DrainReceipt receipt :
        transport.closeSource(System.nanoTime() + TimeUnit.SECONDS.toNanos(2))) {
      SourceHold hold =
          holds.values().stream()
              .filter(found -> found.grant().equals(receipt.subject()))
              .findFirst()
              .orElseThrow(
                  () -> new AssertionError(receipt + " is for a hold that has its receipt"));
      var _ = spend(hold, receipt);
    }
    for (SourceHold hold : holds.values()) {
      var _ = spend(hold);
    }
    peers.forEach(Peer::close);
    registrations.forEach(Registration::close);
    transport.close();
    assertThat(context.liveThreads()).as("threads that outlived their transport").isEmpty();
    memories.forEach(GuardedMemory::assertRedZones);
    memories.forEach(GuardedMemory::close);
    assertThat(context.uncaught()).as("exceptions that ended a thread").isEmpty();
    assertThat(context.receipts().openSubjects()).as("receipts that never came").isZero();
    assertThat(context.places()).as("places in the budget that were not given back").isZero();
  }
}
