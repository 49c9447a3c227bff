package io.orbitkv.tck.template;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.provider.OpenWork;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.ProviderContext;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Transport;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;

/** One engine: where it is reached, and the thread that moves bytes. */
final class TemplateTransport implements Transport {
  /** Your network: how an endpoint leads to an owner. */
  static final Map<URI, TemplateTransport> OPEN = new ConcurrentHashMap<>();

  /** What is registered, submitted and admitted, and whether anything may still begin. */
  final OpenWork open;

  final LinkedBlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
  private final ProviderContext context;
  private final Capabilities capabilities;
  private final URI endpoint;
  private final Thread worker;
  private volatile boolean ended;

  TemplateTransport(ProviderContext context, Capabilities capabilities) {
    this.context = context;
    this.capabilities = capabilities;
    this.endpoint = URI.create("template://" + epoch());
    this.open = new OpenWork(endpoint.toString(), context, capabilities);
    this.worker = context.threads("copy").newThread(this::work);
    worker.start();
    OPEN.put(endpoint, this);
  }

  private void work() {
    while (!ended) {
      try {
        work.take().run();
      } catch (InterruptedException e) {
        // It was ended, or somebody else meant another thread.
      } catch (RuntimeException | Error e) {
        // A callback threw. It is told, and the tickets behind it still need this thread.
        worker.getUncaughtExceptionHandler().uncaughtException(worker, e);
      }
    }
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
  public Registration register(Region region) {
    return open.register(region);
  }

  @Override
  public Peer connect(URI peer, Epoch expected, byte[] peerBytes) {
    open.checkOpen("connect to " + peer);
    if (!"template".equals(peer.getScheme())) {
      throw new TransportException(FaultCode.INVALID, peer + " is not template://");
    }
    return new TemplatePeer(this, peer, expected);
  }

  @Override
  public SourceHold admit(Admission admission) {
    // A copy gets stuck nowhere. A reply over a socket does: there shut the socket down.
    return open.admit(admission, Evidence.LOCAL_QUIESCED, () -> {});
  }

  @Override
  public void quiesce() {
    open.quiesce();
  }

  @Override
  public List<DrainReceipt> closeSource(long deadlineNanos) {
    return open.closeSource(deadlineNanos);
  }

  @Override
  public void close() {
    if (!open.close()) {
      return;
    }
    ended = true;
    OPEN.remove(endpoint);
    worker.interrupt();
    try {
      worker.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
