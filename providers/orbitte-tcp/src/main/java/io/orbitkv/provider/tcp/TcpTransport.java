package io.orbitkv.provider.tcp;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Transport;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One opened engine: the life of both halves. {@code open -> quiesced -> closed}; what is not ended
 * keeps it from closing. Thread-safe.
 */
final class TcpTransport implements Transport {
  /** Peers open at once at most. */
  static final int MAX_PEERS = 1_024;

  private static final Logger log = LoggerFactory.getLogger(TcpTransport.class);
  private static final int MAX_PEER_BYTES = 4_096;

  /** What one entry of a batch occupies: two descriptors and the reference to its memory, bytes. */
  private static final long ENTRY_BYTES = 128;

  private enum State {
    OPEN,
    QUIESCED,
    CLOSED
  }

  private final Engine engine;
  private final Capabilities capabilities;
  private final OwnerService owner;
  private final WordCarriers carriers;
  private final AtomicInteger tickets = new AtomicInteger();

  /** Guarded by this, as are registering, admitting and submitting against closing. */
  private final Set<TcpPeer> peers = new HashSet<>();

  private State state = State.OPEN;

  TcpTransport(Engine engine, Capabilities capabilities, InetSocketAddress listen) {
    this.engine = engine;
    this.capabilities = capabilities;
    this.owner = new OwnerService(engine, listen);
    this.carriers = new WordCarriers(engine);
  }

  void start() {
    owner.start();
    log.info("orbitte-tcp {} open, epoch {}", endpoint(), epoch());
  }

  @Override
  public Epoch epoch() {
    return engine.epoch();
  }

  @Override
  public URI endpoint() {
    return owner.endpoint();
  }

  /** Empty: endpoint and epoch are all that a peer needs. */
  @Override
  public byte[] peerBytes() {
    return new byte[0];
  }

  @Override
  public Capabilities capabilities() {
    return capabilities;
  }

  @Override
  public synchronized Registration register(Region region) {
    if (state == State.CLOSED) {
      throw closing("register " + region.id());
    }
    return engine.regions().add(region);
  }

  @Override
  public Peer connect(URI endpoint, Epoch expected, byte[] peerBytes) {
    InetSocketAddress address = TcpEndpoint.parse(endpoint);
    if (expected.equals(Epoch.NONE) || peerBytes.length > MAX_PEER_BYTES) {
      throw new TransportException(
          FaultCode.INVALID,
          "peer "
              + endpoint
              + " with epoch "
              + expected
              + " and "
              + peerBytes.length
              + " opaque bytes; an epoch and at most "
              + MAX_PEER_BYTES
              + " bytes are needed");
    }
    synchronized (this) {
      requireOpen("connect to " + endpoint);
      if (peers.size() >= MAX_PEERS) {
        throw new TransportException(
            FaultCode.EXHAUSTED, MAX_PEERS + " peers are open, the limit; close one first");
      }
      TcpPeer peer = new TcpPeer(this, engine, address, expected);
      peers.add(peer);
      return peer;
    }
  }

  /** What says the words of this transport. */
  WordCarriers carriers() {
    return carriers;
  }

  synchronized void closed(TcpPeer peer) {
    peers.remove(peer);
  }

  /**
   * Makes a ticket; nothing is handed to a thread yet.
   *
   * @throws TransportException as {@link Peer#read}; then nothing is counted
   */
  TcpTicket open(
      TcpPeer peer, Batch batch, TicketId id, ImportedRegion source, long progressTimeoutNanos) {
    checkLimits(batch);
    if (progressTimeoutNanos < 0) {
      throw new TransportException(
          FaultCode.INVALID, id + ": a progress timeout of " + progressTimeoutNanos + " ns");
    }
    synchronized (this) {
      requireOpen("read " + batch);
      tickets.incrementAndGet();
    }
    AdmissionBudget.Place place = null;
    TcpTicket ticket = null;
    try {
      place = engine.budget().take(ENTRY_BYTES * batch.size());
      Destination destination = Destination.open(engine.regions(), batch);
      AdmissionBudget.Place taken = place;
      long now = engine.clock().getAsLong();
      ticket =
          new TcpTicket(
              peer,
              id,
              batch,
              source,
              destination,
              progressTimeoutNanos,
              now,
              () -> {
                taken.close();
                tickets.decrementAndGet();
                engine.meters().tickets().add(-1);
              });
      engine.meters().tickets().add(1);
      return ticket;
    } finally {
      if (ticket == null) {
        if (place != null) {
          place.close();
        }
        tickets.decrementAndGet();
      }
    }
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
              + " has "
              + pieces
              + " pieces; the limits are "
              + capabilities.maxReadBytes()
              + " bytes and "
              + capabilities.maxDescriptors()
              + " pieces: split it");
    }
  }

  @Override
  public SourceHold admit(Admission admission) {
    if (!admission.grant().epoch().equals(epoch())) {
      throw new TransportException(
          FaultCode.STALE_EPOCH,
          admission.grant() + " does not belong to transport epoch " + epoch());
    }
    if (admission.ranges().size() > Wire.MAX_RANGES) {
      throw new TransportException(
          FaultCode.INVALID,
          admission.grant()
              + " names "
              + admission.ranges().size()
              + " ranges; the limit is "
              + Wire.MAX_RANGES);
    }
    synchronized (this) {
      requireOpen("admit " + admission.grant());
      List<TcpRegistration> used = new ArrayList<>();
      boolean admitted = false;
      try {
        TcpSourceHold hold = hold(admission, used);
        owner.grants().add(hold);
        admitted = true;
        return hold;
      } finally {
        if (!admitted) {
          used.forEach(TcpRegistration::release);
        }
      }
    }
  }

  private TcpSourceHold hold(Admission admission, List<TcpRegistration> used) {
    List<SourceRange> ranges = new ArrayList<>();
    long bytes = 0;
    long[] lengths = new long[admission.ranges().size()];
    for (Descriptor range : admission.ranges()) {
      TcpRegistration registration = engine.regions().use(range.region());
      used.add(registration);
      Region region = registration.region();
      if (!region.permission().readable()) {
        throw new TransportException(
            FaultCode.DENIED, region.id() + " is registered for writing only");
      }
      if (range.end() > region.length()) {
        throw new TransportException(
            FaultCode.INVALID, range + " leaves its region of " + region.length() + " bytes");
      }
      lengths[ranges.size()] = range.length();
      ranges.add(
          new SourceRange(
              region.memory().asSlice(range.offset(), range.length()),
              region.fd(),
              region.fdOffset() + range.offset()));
      bytes += range.length();
    }
    GrantForm form =
        new GrantForm(admission.grant(), admission.requester(), Token.random(), lengths);
    return new TcpSourceHold(
        owner.grants(), form, ranges, used, new SourceReferences(engine.references(), bytes));
  }

  @Override
  public void quiesce() {
    synchronized (this) {
      if (state == State.OPEN) {
        state = State.QUIESCED;
        log.info("orbitte-tcp {} quiesced", endpoint());
      }
    }
    owner.quiesce();
  }

  /**
   * As {@link Transport#closeSource}. A reply that is stuck is ended after the retirement grace, or
   * after half of the time to the deadline if that is sooner, so that its end can be waited for.
   */
  @Override
  public List<DrainReceipt> closeSource(long deadlineNanos) {
    quiesce();
    List<TcpSourceHold> holds = owner.grants().holds();
    long left = deadlineNanos - System.nanoTime();
    long hurry = left > 0 ? left / 2 : Long.MAX_VALUE;
    holds.forEach(hold -> hold.revoke(hurry));
    owner.grants().awaitDrained(holds, deadlineNanos);
    List<DrainReceipt> receipts = new ArrayList<>();
    holds.forEach(hold -> hold.drain().ifPresent(receipts::add));
    return receipts;
  }

  /**
   * As {@link Transport#close()}. Joins its threads: one that is just connecting, or says the last
   * words to an owner, ends within the 3 s that a connection may take.
   */
  @Override
  public void close() {
    List<TcpPeer> open;
    synchronized (this) {
      if (state == State.CLOSED) {
        return;
      }
      if (tickets.get() > 0 || owner.grants().size() > 0 || engine.regions().size() > 0) {
        throw new TransportException(
            FaultCode.IN_USE,
            "orbitte-tcp "
                + endpoint()
                + " has "
                + tickets.get()
                + " tickets, "
                + owner.grants().size()
                + " source holds and "
                + engine.regions().size()
                + " registrations that are not ended; drain and close them first");
      }
      state = State.CLOSED;
      open = List.copyOf(peers);
    }
    open.forEach(TcpPeer::close);
    owner.close();
    carriers.close();
    engine.join(carriers::cut);
    log.info("orbitte-tcp {} closed", endpoint());
  }

  private void requireOpen(String what) {
    if (state != State.OPEN) {
      throw closing(what);
    }
  }

  private TransportException closing(String what) {
    return new TransportException(
        FaultCode.CLOSING, "orbitte-tcp " + endpoint() + " is closing and can not " + what);
  }
}
