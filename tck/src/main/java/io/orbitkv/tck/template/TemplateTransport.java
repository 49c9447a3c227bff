package io.orbitkv.tck.template;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.MemoryKind;
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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;

/** One engine: what is registered, what is admitted, and the thread that moves bytes. */
final class TemplateTransport implements Transport {
  /** Your network: how an endpoint leads to an owner. */
  static final Map<URI, TemplateTransport> OPEN = new ConcurrentHashMap<>();

  final ProviderContext context;
  final LinkedBlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
  final Map<GrantId, TemplateHold> holds = new ConcurrentHashMap<>();
  private final Capabilities capabilities;
  private final URI endpoint;
  private final Thread worker;

  /** Guarded by this, so that nothing begins beside quiesce and close. */
  final Map<RegionId, TemplateRegistration> regions = new ConcurrentHashMap<>();

  private int tickets;
  private boolean quiesced;
  private boolean closed;

  TemplateTransport(ProviderContext context, Capabilities capabilities) {
    this.context = context;
    this.capabilities = capabilities;
    this.endpoint = URI.create("template://" + epoch());
    this.worker = context.threads("copy").newThread(this::work);
    worker.start();
    OPEN.put(endpoint, this);
  }

  private void work() {
    while (true) {
      try {
        work.take().run();
      } catch (InterruptedException e) {
        if (isClosed()) {
          return;
        }
      } catch (RuntimeException | Error e) {
        // A callback threw. It is told, and the tickets behind it still need this thread.
        Thread worker = Thread.currentThread();
        worker.getUncaughtExceptionHandler().uncaughtException(worker, e);
      }
    }
  }

  private synchronized boolean isClosed() {
    return closed;
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
    checkOpen();
    if (region.kind().type() != MemoryKind.Type.HOST) {
      throw refuse(FaultCode.UNSUPPORTED, region.id() + " is not host memory");
    }
    TemplateRegistration registration = new TemplateRegistration(this, region);
    if (regions.putIfAbsent(region.id(), registration) != null) {
      throw refuse(FaultCode.IN_USE, region.id() + " is registered already");
    }
    return registration;
  }

  @Override
  public synchronized Peer connect(URI peer, Epoch expected, byte[] peerBytes) {
    checkOpen();
    if (!"template".equals(peer.getScheme())) {
      throw refuse(FaultCode.INVALID, peer + " is not template://");
    }
    return new TemplatePeer(this, peer, expected);
  }

  @Override
  public synchronized SourceHold admit(Admission admission) {
    checkOpen();
    List<MemorySegment> memory = new ArrayList<>();
    List<TemplateRegistration> used = new ArrayList<>();
    try {
      for (Descriptor range : admission.ranges()) {
        TemplateRegistration registration = use(range);
        used.add(registration);
        if (!registration.region().permission().readable()) {
          throw refuse(FaultCode.DENIED, range.region() + " is not readable");
        }
        memory.add(registration.region().memory().asSlice(range.offset(), range.length()));
      }
    } catch (TransportException e) {
      // Throwing says that nothing was admitted: so nothing may stay counted.
      used.forEach(TemplateRegistration::release);
      throw e;
    }
    TemplateHold hold = new TemplateHold(this, admission, memory, used);
    holds.put(admission.grant(), hold);
    return hold;
  }

  /** Checks a descriptor and counts a user of its region, until the user's receipt. */
  TemplateRegistration use(Descriptor descriptor) {
    TemplateRegistration registration = regions.get(descriptor.region());
    if (registration == null) {
      throw refuse(FaultCode.NOT_FOUND, descriptor.region() + " is not registered");
    }
    if (descriptor.end() > registration.region().length()) {
      throw refuse(FaultCode.INVALID, descriptor + " leaves its region");
    }
    registration.use();
    return registration;
  }

  synchronized void begin() {
    checkOpen();
    tickets++;
  }

  synchronized void end() {
    tickets--;
  }

  private void checkOpen() {
    if (quiesced) {
      throw refuse(FaultCode.CLOSING, endpoint + " is closing");
    }
  }

  @Override
  public synchronized void quiesce() {
    quiesced = true;
  }

  @Override
  public List<DrainReceipt> closeSource(long deadlineNanos) {
    quiesce();
    List<TemplateHold> all = List.copyOf(holds.values());
    all.forEach(SourceHold::revoke);
    List<DrainReceipt> receipts = new ArrayList<>();
    for (TemplateHold hold : all) {
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
      if (tickets > 0 || !holds.isEmpty() || !regions.isEmpty()) {
        throw refuse(FaultCode.IN_USE, endpoint + " has work that is not drained; drain it first");
      }
      quiesced = true;
      closed = true;
    }
    OPEN.remove(endpoint);
    worker.interrupt();
    try {
      worker.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  static TransportException refuse(FaultCode code, String message) {
    return new TransportException(code, message);
  }
}
