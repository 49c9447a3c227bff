package io.orbitkv.api.provider;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.ReceiptSubject;
import io.orbitkv.api.Region;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.ProviderContext;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.Transport.Admission;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * What one opened {@link io.orbitkv.api.spi.Transport} has not ended: registrations, tickets and
 * source holds; and its admission, which closes once and for good. Checks everything before
 * anything begins: what throws has taken nothing. The transport's methods of the same names can
 * hand over to it. Thread-safe; only {@link #closeSource} waits.
 */
public final class OpenWork {
  /** Registrations at once at most. */
  public static final int MAX_REGIONS = 4_096;

  /** What an entry of a batch counts for in the admission budget, bytes. */
  private static final long ENTRY_BYTES = 128;

  private final String owner;
  private final ProviderContext context;
  private final Capabilities capabilities;
  private final RegionTable regions;

  /** Guarded by this, as are those below. */
  private final Map<GrantId, GatedHold> holds = new HashMap<>();

  private int tickets;
  private boolean quiesced;
  private boolean closed;

  /**
   * Nothing is open yet.
   *
   * @param owner what the transport is called in messages, as its endpoint
   * @param context what the Manager lent: its receipt issuer and budget are used
   * @param capabilities what the transport binds itself to: its kinds of memory and limits are
   *     enforced
   */
  public OpenWork(String owner, ProviderContext context, Capabilities capabilities) {
    this.owner = owner;
    this.context = context;
    this.capabilities = capabilities;
    this.regions = new RegionTable(capabilities.memory(), MAX_REGIONS);
  }

  /** Registers a region that no device has to be told of. As the method below. */
  public Registration register(Region region) {
    return register(region, new byte[0], () -> {});
  }

  /**
   * Registers a region. Its registration counts the tickets and source holds over it, and closes
   * when all of them are drained.
   *
   * @param region what to register
   * @param description what {@link Registration#describe()} returns
   * @param withdraw ends the device's hold; runs in the registration's close, when nothing uses it.
   *     If it throws, the registration stays, and the close can be repeated
   * @throws TransportException UNSUPPORTED, INVALID, IN_USE, EXHAUSTED, CLOSING; nothing is
   *     registered then
   */
  public synchronized Registration register(Region region, byte[] description, Runnable withdraw) {
    if (closed) {
      throw closing("register " + region.id());
    }
    return regions.add(region, description, withdraw);
  }

  /**
   * Throws CLOSING if the transport is quiesced.
   *
   * @param what what can not be done then, for the message
   */
  public synchronized void checkOpen(String what) {
    if (quiesced) {
      throw closing(what);
    }
  }

  private TransportException closing(String what) {
    return new TransportException(
        FaultCode.CLOSING, owner + " is closing and can not " + what + "; use another transport");
  }

  /**
   * Checks a batch and makes its ticket: limits, admission, bounds and permission of each
   * destination, budget. Nothing has begun: hand the ticket to what moves its bytes, or {@link
   * GatedTicket#end end} it.
   *
   * @param batch what to read
   * @param id the name under which the receipt will be issued
   * @param evidence what it means that nobody is inside the destination: declared for it
   * @param stuck runs once if the ticket is ended while somebody is inside, in the thread that ends
   *     it: makes them leave, as by shutdown() of a socket; must neither block nor throw
   * @throws TransportException INVALID, NOT_FOUND, DENIED, EXHAUSTED, CLOSING; nothing is counted
   *     then
   */
  public GatedTicket submit(Batch batch, TicketId id, Evidence evidence, Runnable stuck) {
    checkLimits(batch);
    begin("read " + batch);
    RegionUse destinations = null;
    AdmissionBudget.Place place = null;
    try {
      destinations =
          regions.useDestinations(IntStream.range(0, batch.size()).mapToObj(batch::local).toList());
      place = context.budget().take(ENTRY_BYTES * batch.size());
    } finally {
      if (place == null) {
        if (destinations != null) {
          destinations.close();
        }
        ticketEnded();
      }
    }
    RegionUse used = destinations;
    AdmissionBudget.Place taken = place;
    return new GatedTicket(
        id,
        batch,
        used,
        () -> mint(id, evidence),
        stuck,
        () -> {
          used.close();
          taken.close();
          ticketEnded();
        });
  }

  private void checkLimits(Batch batch) {
    long pieces = 0;
    for (int i = 0; i < batch.size(); i++) {
      pieces += Math.max(batch.local(i).count(), batch.remote(i).count());
    }
    if (batch.bytes() > capabilities.maxReadBytes() || pieces > capabilities.maxDescriptors()) {
      throw new TransportException(
          FaultCode.INVALID,
          batch
              + (" has " + pieces + " pieces; the limits are " + capabilities.maxReadBytes())
              + (" bytes and " + capabilities.maxDescriptors() + " pieces: split it"));
    }
  }

  private synchronized void begin(String what) {
    checkOpen(what);
    tickets++;
  }

  private synchronized void ticketEnded() {
    tickets--;
  }

  /**
   * Checks an admission and makes its hold.
   *
   * @param admission what the peer may read
   * @param evidence what it means that nobody is inside the source: declared for it
   * @param stuck runs once if the hold is revoked while somebody is inside, in the thread that
   *     revokes it: makes them leave, within {@link ProviderContext#retirementGraceNanos()}; must
   *     neither block nor throw
   * @throws TransportException STALE_EPOCH, IN_USE, INVALID, NOT_FOUND, DENIED, CLOSING; nothing is
   *     admitted then
   */
  public synchronized GatedHold admit(Admission admission, Evidence evidence, Runnable stuck) {
    GrantId grant = admission.grant();
    checkOpen("admit " + grant);
    checkEpoch(grant);
    if (holds.containsKey(grant)) {
      throw new TransportException(FaultCode.IN_USE, grant + " is admitted already");
    }
    List<Descriptor> ranges = admission.ranges();
    GatedHold hold = new GatedHold(this, admission, evidence, regions.useSources(ranges), stuck);
    holds.put(grant, hold);
    return hold;
  }

  private void checkEpoch(GrantId grant) {
    Epoch mine = context.receipts().epoch();
    if (!grant.epoch().equals(mine)) {
      throw new TransportException(
          FaultCode.STALE_EPOCH, grant + " is not of epoch " + mine + "; ask for a new grant");
    }
  }

  /**
   * Enters the source of a grant, on behalf of one read. The check of the right and the entry are
   * one step: after a revocation nothing enters.
   *
   * @param grant the grant that the requester names
   * @param secret what it shows, {@link ImportedGrant#secret()}
   * @param requester the requester's transport epoch
   * @return the hold; {@link GatedHold#leave()} is due once
   * @throws TransportException STALE_EPOCH, GRANT_ENDED, DENIED; nobody is inside then
   */
  public GatedHold enter(GrantId grant, byte[] secret, Epoch requester) {
    checkEpoch(grant);
    GatedHold hold;
    synchronized (this) {
      hold = holds.get(grant);
    }
    if (hold == null) {
      throw new TransportException(FaultCode.GRANT_ENDED, grant + " has ended; ask for a new one");
    }
    hold.enter(secret, requester);
    return hold;
  }

  DrainReceipt mint(ReceiptSubject subject, Evidence evidence) {
    return context.receipts().issue(subject, evidence);
  }

  synchronized void holdLeft() {
    notifyAll();
  }

  synchronized void holdEnded(GatedHold hold) {
    holds.remove(hold.grant(), hold);
  }

  /** As {@link io.orbitkv.api.spi.Transport#quiesce()}. */
  public synchronized void quiesce() {
    quiesced = true;
  }

  /** As {@link io.orbitkv.api.spi.Transport#closeSource}. */
  public List<DrainReceipt> closeSource(long deadlineNanos) {
    List<GatedHold> all;
    synchronized (this) {
      quiesce();
      all = List.copyOf(holds.values());
    }
    all.forEach(GatedHold::revoke);
    awaitLeft(all, deadlineNanos);
    List<DrainReceipt> receipts = new ArrayList<>();
    all.forEach(hold -> hold.drain().ifPresent(receipts::add));
    return receipts;
  }

  private synchronized void awaitLeft(List<GatedHold> all, long deadlineNanos) {
    try {
      long left = deadlineNanos - System.nanoTime();
      while (left > 0 && !all.stream().allMatch(GatedHold::left)) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
        left = deadlineNanos - System.nanoTime();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Ends the work, and admission with it.
   *
   * @return whether this call did: sockets, devices and threads are to be ended then; false if it
   *     was closed before
   * @throws TransportException IN_USE while a ticket, a source hold or a registration is not ended;
   *     nothing changes then
   */
  public synchronized boolean close() {
    if (closed) {
      return false;
    }
    // Each ticket and each hold keeps a registration.
    if (regions.size() > 0) {
      throw new TransportException(
          FaultCode.IN_USE,
          owner
              + (" has " + tickets + " tickets, " + holds.size() + " source holds and ")
              + (regions.size() + " registrations that are not ended; drain and close them first"));
    }
    quiesced = true;
    closed = true;
    return true;
  }
}
