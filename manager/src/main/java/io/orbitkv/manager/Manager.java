package io.orbitkv.manager;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.Side;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.manager.catalog.Catalog;
import io.orbitkv.manager.catalog.LeaseTable;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.manager.config.MembershipKind;
import io.orbitkv.manager.control.ControlServer;
import io.orbitkv.manager.control.PeerHello;
import io.orbitkv.manager.grant.GrantAuthority;
import io.orbitkv.manager.grant.GrantLimits;
import io.orbitkv.manager.local.LocalOptions;
import io.orbitkv.manager.local.LocalServer;
import io.orbitkv.manager.membership.HostRegistry;
import io.orbitkv.manager.memory.Pool;
import io.orbitkv.manager.transfer.BlockReader;
import io.orbitkv.manager.transfer.DigestChecks;
import io.orbitkv.manager.transfer.DrainCoordinator;
import io.orbitkv.manager.transfer.ReceiptCounters;
import io.orbitkv.manager.transfer.RemotePeers;
import io.orbitkv.manager.transfer.Tickets;
import io.orbitkv.manager.transfer.TransferLimits;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One Manager: composes its parts, starts them in order, and ends them in the order of withdrawal:
 * publication, new grants, admission, drain, unregister, unmap. Owned by the process; ends by
 * {@link #shutdown()}.
 */
public final class Manager {
  private static final Logger LOG = LoggerFactory.getLogger(Manager.class);
  private static final long MAX_DESCRIPTOR_BYTES = 8L << 20;
  private static final int MAX_DESCRIPTORS = 16_384;

  private final ManagerConfiguration configuration;
  private final Epoch epoch = Epoch.random();
  private final long startedNanos = System.nanoTime();
  private final Pool pool;
  private final Engine engine;
  private final ReceiptCounters receipts = new ReceiptCounters();
  private final DrainCoordinator coordinator;
  private final Catalog catalog;
  private final LeaseTable leases;
  private final Tickets tickets;
  private final RemotePeers peers;
  private final DigestChecks digests = new DigestChecks();
  private final BlockReader reader;
  private final EngineBlocks blocks;
  private final GrantAuthority authority;
  private final ControlPlane control;
  private final LocalServer local;
  private final CountDownLatch ended = new CountDownLatch(1);

  private Manager(ManagerConfiguration configuration, Pool pool, Engine engine) {
    this.configuration = configuration;
    this.pool = pool;
    this.engine = engine;
    this.coordinator =
        new DrainCoordinator(
            engine.issuer(), receipts, 2 * configuration.retirementGrace().toNanos());
    this.catalog = new Catalog(pool);
    this.leases = new LeaseTable(configuration.leaseLifetime().toNanos());
    this.tickets =
        new Tickets(
            epoch,
            engine.issuer(),
            coordinator,
            new Peer.TicketOptions(configuration.transferProgressTimeout().toNanos()));
    this.peers = new RemotePeers(engine.transport(), configuration.grantLifetime().toNanos());
    this.reader =
        new BlockReader(
            pool, catalog, leases, tickets, limits(), digests, peers, engine.transport().epoch());
    this.blocks =
        new EngineBlocks(
            pool,
            catalog,
            leases,
            reader,
            configuration.digest(),
            configuration.membership() == MembershipKind.NONE
                ? Long.MAX_VALUE
                : configuration.maxPinnedBytesPerPeer(),
            this::statusJson);
    this.authority =
        new GrantAuthority(
            catalog,
            engine.transport(),
            engine.issuer(),
            coordinator,
            new GrantLimits(
                configuration.maxGrantsPerPeer(),
                configuration.maxPinnedBytesPerPeer(),
                configuration.grantLifetime().toNanos()),
            this::hello,
            this::revoked);
    this.control = new ControlPlane(configuration, epoch);
    try {
      control.start(authority, peers);
      this.local =
          LocalServer.start(
              configuration.socketPath(control.port()),
              LocalOptions.of(configuration),
              epoch,
              blocks);
    } catch (RuntimeException e) {
      control.close();
      throw e;
    }
  }

  /**
   * Starts a Manager; when this returns it serves engines and peers.
   *
   * @param configuration checked
   * @param provider usable here, with evidence that suffices
   * @throws TransportException naming what could not be had; nothing is left behind but arenas that
   *     the provider would not let go of: they stay mapped, and are named
   */
  public static Manager start(ManagerConfiguration configuration, TransportProvider provider) {
    checkFree(configuration);
    Pool pool;
    try {
      pool = new Pool(configuration.poolBytes());
    } catch (NativeException e) {
      throw new TransportException(
          FaultCode.EXHAUSTED,
          "a pool of "
              + configuration.poolBytes()
              + " bytes can not be had: "
              + e.getMessage()
              + "; ask for less by --pool-bytes",
          e);
    }
    Engine engine;
    try {
      engine = Engine.open(provider, configuration);
    } catch (RuntimeException e) {
      pool.close();
      throw e;
    }
    Manager manager;
    try {
      engine.register(pool);
      manager = new Manager(configuration, pool, engine);
    } catch (RuntimeException e) {
      endAfter(e, engine, pool);
      throw e;
    }
    try {
      manager.publish();
    } catch (RuntimeException e) {
      manager.shutdown();
      throw e;
    }
    return manager;
  }

  /** Unmaps the pool only if the provider has let go of it. */
  private static void endAfter(RuntimeException failure, Engine engine, Pool pool) {
    try {
      engine.close();
      pool.close();
    } catch (RuntimeException | LinkageError e) {
      LOG.error("the pool stays mapped until this process ends: {}", e.getMessage());
      failure.addSuppressed(e);
    }
  }

  /** Finds what is taken before the pool is populated, which may take long. */
  private static void checkFree(ManagerConfiguration configuration) {
    if (configuration.membership() == MembershipKind.LOCAL) {
      HostRegistry.checkUsable(configuration.registryDirectory());
    }
    if (configuration.membership() != MembershipKind.NONE) {
      ControlServer.checkFree(new InetSocketAddress(configuration.host(), configuration.port()));
    }
    if (configuration.socket().isPresent() || configuration.port() != 0) {
      LocalServer.checkFree(configuration.socketPath(configuration.port()));
    }
  }

  /** Where engine processes attach. */
  public Path socketPath() {
    return local.socketPath();
  }

  /** Where peers reach its control server, {@code host:port}; empty if it has none. */
  public String controlAddress() {
    return control.address();
  }

  /** Its addresses and identities, for people and machines. */
  public JsonObject describe() {
    JsonObject json = new JsonObject();
    json.addProperty("socket", socketPath().toString());
    json.addProperty("control", controlAddress());
    json.addProperty("endpoint", engine.transport().endpoint().toString());
    json.addProperty("backend", engine.backend());
    json.addProperty("epoch", epoch.toString());
    return json;
  }

  /** Its state for people and machines, as one JSON object. */
  public String statusJson() {
    JsonObject json = new JsonObject();
    JsonObject self = describe();
    self.addProperty("transport_epoch", engine.transport().epoch().toString());
    self.addProperty("uptime_ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNanos));
    Pool.Usage usage = pool.usage();
    json.add("manager", self);
    json.add("pool", StatusReport.pool(pool, usage));
    json.add("quarantine", StatusReport.quarantine(usage));
    json.add("catalog", catalogStatus());
    json.add("reads", readStatus());
    json.add("fetches", StatusReport.fetches(reader.fetchTimes().recent()));
    json.add("digests", StatusReport.digests(blocks.digestsTaken(), digests));
    json.add("leases", leaseStatus());
    json.add("tickets", ticketStatus());
    json.add("grants", StatusReport.grants(authority));
    json.add("receipts", StatusReport.receipts(receipts, Side.values()));
    json.add("receipts_destination", StatusReport.receipts(receipts, Side.DESTINATION));
    json.add("receipts_source", StatusReport.receipts(receipts, Side.SOURCE));
    json.addProperty("receipts_refused", receipts.refused());
    json.add("sessions", StatusReport.sessions(local));
    json.add("plans", StatusReport.plans(local.instances()));
    json.add("registrations", StatusReport.registrations(engine.registrations().states()));
    json.add("budget", budgetStatus());
    json.add("transport", StatusReport.numbers(engine.meters().snapshot()));
    json.add("peers", StatusReport.peers(peers.hellos()));
    json.add("holds", StatusReport.holds(pool.holds()));
    return json.toString();
  }

  /**
   * Ends the Manager in the order of withdrawal, with the configured deadline for the drain. What
   * has no receipt by then stays held, mapped and registered, and is named; so is a step that
   * failed, which keeps none of the later ones from being taken.
   */
  public ShutdownReport shutdown() {
    LOG.info("shutdown: withdrawn from membership, no new grants");
    Withdrawal end = new Withdrawal(configuration, pool, engine);
    try {
      end.step("withdrawing from membership", control::withdraw);
      end.step("ending grants", authority::close);
      end.step("refusing engines", blocks::close);
      end.step("closing admission", engine.transport()::quiesce);
      end.step("ending tickets", tickets::close);
      end.sayWhatIsAwaited();
      long deadline = System.nanoTime() + configuration.sourceCloseDeadline().toNanos();
      end.step("draining the source", () -> drainSource(deadline));
      end.step(
          "waiting for the drain", () -> end.awaitDrain(tickets, peers, coordinator, deadline));
      end.step("closing the socket", local::stop);
      end.step("ending reads", reader::close);
      end.step("ending digests", digests::close);
      end.step("closing control", control::close);
      end.step("leaving peers", peers::close);
      end.step("releasing the memory", end::release);
      end.step("ending receipts", coordinator::close);
    } finally {
      ended.countDown();
    }
    return end.report();
  }

  private void drainSource(long deadline) {
    for (DrainReceipt receipt : engine.transport().closeSource(deadline)) {
      coordinator.accept(receipt);
    }
  }

  /** Waits until {@link #shutdown()} has returned. */
  public void awaitShutdown() throws InterruptedException {
    ended.await();
  }

  private void publish() {
    control.publish();
    LOG.info("manager serves: {}", describe());
  }

  private TransferLimits limits() {
    return new TransferLimits(
        Math.min(configuration.maxReadBytes(), engine.transport().capabilities().maxReadBytes()),
        Math.min(MAX_DESCRIPTORS, engine.transport().capabilities().maxDescriptors()),
        MAX_DESCRIPTOR_BYTES);
  }

  private PeerHello hello() {
    return new PeerHello(
        epoch,
        "pid " + ProcessHandle.current().pid() + " at " + controlAddress(),
        controlAddress(),
        engine.backend(),
        engine.transport().epoch(),
        engine.transport().endpoint(),
        engine.transport().peerBytes());
  }

  private void revoked(Epoch requester, GrantId grant) {
    control.announceRevoked(requester, grant);
  }

  private JsonElement catalogStatus() {
    JsonObject json = new JsonObject();
    json.addProperty("blocks", catalog.size());
    json.addProperty("evictions", catalog.evictions());
    json.addProperty("published_blocks", blocks.publishedBlocks());
    json.addProperty("published_bytes", blocks.publishedBytes());
    return json;
  }

  private JsonElement readStatus() {
    JsonObject json = new JsonObject();
    json.addProperty("local_blocks", reader.localBlocks());
    json.addProperty("peer_blocks", reader.peerBlocks());
    json.addProperty("peer_bytes", reader.peerBytes());
    json.addProperty("missed_blocks", reader.missedBlocks());
    return json;
  }

  private JsonElement leaseStatus() {
    JsonObject json = new JsonObject();
    json.addProperty("open", leases.size());
    json.addProperty("expired", leases.expired());
    return json;
  }

  private JsonElement ticketStatus() {
    JsonObject json = new JsonObject();
    json.addProperty("submitted", tickets.submitted());
    json.addProperty("undrained", tickets.undrained());
    json.add("outcomes", StatusReport.numbers(tickets.outcomes()));
    return json;
  }

  private JsonElement budgetStatus() {
    JsonObject json = new JsonObject();
    json.addProperty("live_batches", engine.budget().batches());
    json.addProperty("descriptor_bytes", engine.budget().descriptorBytes());
    json.addProperty("refusals", engine.budget().refusals());
    return json;
  }
}
