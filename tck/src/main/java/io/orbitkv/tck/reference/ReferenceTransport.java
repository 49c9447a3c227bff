package io.orbitkv.tck.reference;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.ProviderContext;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Transport;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/** One opened engine, requester and owner at once. Thread-safe. */
final class ReferenceTransport implements Transport {
  static final String SCHEME = "reference";

  private static final long JOIN_MILLIS = 10_000;

  private static final Map<URI, ReferenceTransport> OPEN = new ConcurrentHashMap<>();

  private final ProviderContext context;
  private final Capabilities capabilities;
  private final Lever lever;
  private final Set<Defect> defects;
  private final URI endpoint;
  private final ExecutorService copies;
  private final List<Thread> threads = new CopyOnWriteArrayList<>();
  private final Map<GrantId, ReferenceHold> holds = new ConcurrentHashMap<>();

  /** Guarded by this, as are submitting and admitting against {@link #quiesce} and close. */
  private final Map<RegionId, ReferenceRegistration> registrations = new ConcurrentHashMap<>();

  private int tickets;
  private int quiesces;
  private boolean closed;

  private ReferenceTransport(
      ProviderContext context, Capabilities capabilities, Lever lever, Set<Defect> defects) {
    this.context = context;
    this.capabilities = capabilities;
    this.lever = lever;
    this.defects = defects;
    this.endpoint = URI.create(SCHEME + "://" + context.receipts().epoch());
    ThreadFactory factory = context.threads("copy");
    this.copies =
        Executors.newCachedThreadPool(
            work -> {
              Thread thread = factory.newThread(work);
              threads.add(thread);
              return thread;
            });
  }

  static ReferenceTransport open(
      ProviderContext context, Capabilities capabilities, Lever lever, Set<Defect> defects) {
    ReferenceTransport transport = new ReferenceTransport(context, capabilities, lever, defects);
    OPEN.put(transport.endpoint, transport);
    return transport;
  }

  /** Who listens at an endpoint now. */
  @Nullable ReferenceTransport reach(URI peer) {
    return OPEN.get(lever.resolve(peer));
  }

  boolean has(Defect defect) {
    return defects.contains(defect);
  }

  Lever lever() {
    return lever;
  }

  ReceiptIssuer receipts() {
    return context.receipts();
  }

  ProviderContext context() {
    return context;
  }

  ExecutorService copies() {
    return copies;
  }

  @Override
  public Epoch epoch() {
    return context.receipts().epoch();
  }

  @Override
  public URI endpoint() {
    return endpoint;
  }

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
    if (region.kind().type() != MemoryKind.Type.HOST) {
      throw new TransportException(
          FaultCode.UNSUPPORTED, region.id() + " is " + region.kind() + "; only host memory is");
    }
    if (registrations.containsKey(region.id())) {
      throw new TransportException(FaultCode.IN_USE, region.id() + " is registered already");
    }
    ReferenceRegistration registration = new ReferenceRegistration(this, region);
    registrations.put(region.id(), registration);
    return registration;
  }

  void forget(ReferenceRegistration registration) {
    registrations.remove(registration.region().id(), registration);
  }

  void forget(ReferenceHold hold) {
    holds.remove(hold.grant(), hold);
  }

  /** Finds a registration and counts a user. */
  ReferenceRegistration use(RegionId id) {
    ReferenceRegistration registration = registrations.get(id);
    if (registration == null) {
      throw new TransportException(FaultCode.NOT_FOUND, id + " is not registered; register it");
    }
    registration.use();
    return registration;
  }

  @Nullable ReferenceHold hold(GrantId grant) {
    return holds.get(grant);
  }

  /** What a transport without epochs would find. */
  @Nullable ReferenceHold anyHold() {
    return holds.values().stream().findFirst().orElse(null);
  }

  @Override
  public synchronized SourceHold admit(Admission admission) {
    checkOpen("admit " + admission.grant());
    if (holds.containsKey(admission.grant())) {
      throw new TransportException(FaultCode.IN_USE, admission.grant() + " is admitted already");
    }
    List<ReferenceRegistration> used = new ArrayList<>();
    boolean admitted = false;
    try {
      List<MemorySegment> ranges = new ArrayList<>();
      for (Descriptor range : admission.ranges()) {
        ReferenceRegistration registration = use(range.region());
        used.add(registration);
        ranges.add(source(registration.region(), range));
      }
      if (has(Defect.DEREGISTERS_UNDER_READ)) {
        used.forEach(ReferenceRegistration::release);
        used.clear();
      }
      ReferenceHold hold = new ReferenceHold(this, admission, ranges, used);
      holds.put(admission.grant(), hold);
      admitted = true;
      return hold;
    } finally {
      if (!admitted) {
        used.forEach(ReferenceRegistration::release);
      }
    }
  }

  private static MemorySegment source(Region region, Descriptor range) {
    if (!region.permission().readable()) {
      throw new TransportException(FaultCode.DENIED, region.id() + " is not readable");
    }
    if (range.end() > region.length()) {
      throw new TransportException(FaultCode.INVALID, range + " leaves its region");
    }
    return region.memory().asSlice(range.offset(), range.length());
  }

  @Override
  public Peer connect(URI peer, Epoch expected, byte[] peerBytes) {
    checkOpen("connect to " + peer);
    if (!SCHEME.equals(peer.getScheme())) {
      throw new TransportException(FaultCode.INVALID, peer + " is not a " + SCHEME + " endpoint");
    }
    return new ReferencePeer(this, peer, expected);
  }

  /** Counts a ticket that begins. */
  synchronized void began(String what) {
    checkOpen(what);
    tickets++;
  }

  synchronized void ended() {
    tickets--;
  }

  synchronized void checkOpen(String what) {
    boolean reopened = has(Defect.QUIESCE_REOPENS) && quiesces > 1;
    if (closed || (quiesces > 0 && !reopened)) {
      throw new TransportException(FaultCode.CLOSING, endpoint + " is closing; it can not " + what);
    }
  }

  @Override
  public synchronized void quiesce() {
    quiesces++;
  }

  @Override
  public List<DrainReceipt> closeSource(long deadlineNanos) {
    quiesce();
    List<ReferenceHold> all = List.copyOf(holds.values());
    all.forEach(ReferenceHold::revoke);
    List<DrainReceipt> receipts = new ArrayList<>();
    for (ReferenceHold hold : all) {
      hold.awaitLeft(deadlineNanos);
      hold.drain().ifPresent(receipts::add);
    }
    return receipts;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      boolean busy = tickets > 0 || !holds.isEmpty() || !registrations.isEmpty();
      if (busy && !has(Defect.CLOSE_CANNOT_FAIL)) {
        throw new TransportException(
            FaultCode.IN_USE,
            endpoint
                + (" has " + tickets + " tickets, " + holds.size() + " source holds and ")
                + (registrations.size() + " registrations that are not ended; end them first"));
      }
      closed = true;
    }
    OPEN.remove(endpoint, this);
    copies.shutdown();
    try {
      // Every ticket is drained, so that no copy is inside; the threads only have to return.
      for (Thread thread : threads) {
        thread.join(JOIN_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String toString() {
    return endpoint.toString();
  }
}
