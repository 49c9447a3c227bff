package io.orbitkv.provider.tcp;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Permission;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.Side;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.Peer.TicketOptions;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The real requester: a peer with its queue and tickets, whose threads never start and whose timer
 * only tells the world that something was left to it. Worlds come one after the other, so they
 * share one: a peer's lanes are large. Its transport is never closed, for worlds that are given up
 * leave tickets that are not drained.
 */
final class ExploredRequester {
  static final Epoch OWNER = new Epoch(1, 1);

  /** The least that a READ may be limited to. */
  static final int CHUNK = 4_096;

  private static final Epoch SELF = new Epoch(2, 2);
  private static final Epoch MANAGER = new Epoch(3, 3);
  private static final TestContext CONTEXT =
      new TestContext(
          "127.0.0.1",
          TestContext.GRACE_NANOS,
          Integer.MAX_VALUE,
          Host.options("connections", "1"));

  /** Not started, so that it has no thread. */
  private static final TcpTransport TRANSPORT =
      new TcpTransport(
          Engine.of(CONTEXT, TcpSettings.parse(CONTEXT.options())),
          new OrbitteTcpProvider().capabilities(CONTEXT.options()),
          new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));

  private static final Region RANGE =
      new Region(
          new RegionId(1, 1),
          -1,
          0,
          Arena.global().allocate(2 * CHUNK),
          MemoryKind.HOST,
          Permission.READ_WRITE,
          Region.Backing.BORROWED);

  static {
    var _ = TRANSPORT.register(RANGE);
  }

  /** Tells the world, and then says what an engine that closes would: that is ignored. */
  private static final class Timer extends ScheduledThreadPoolExecutor {
    private Runnable left = () -> {};

    Timer() {
      super(0);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable work, long delay, TimeUnit unit) {
      left.run();
      throw new RejectedExecutionException("time is the world's");
    }
  }

  private static final Timer TIMER = new Timer();

  /** Whose tickets are one READ of both chunks, and whose are a READ for each. */
  private static final ExploredRequester WHOLE = new ExploredRequester(2 * CHUNK);

  private static final ExploredRequester SPLIT = new ExploredRequester(CHUNK);

  private static final class NeverStarted extends Thread {
    NeverStarted(Runnable work) {
      super(work);
    }

    @Override
    public void start() {}

    /** So that its engine does not keep it. */
    @Override
    public State getState() {
      return State.TERMINATED;
    }
  }

  private final Engine engine;
  private final TcpPeer peer;
  private final EntryList entries = new EntryList();

  /** Tickets without a spent receipt that earlier worlds have left. */
  private int given;

  private long tickets;

  private ExploredRequester(int requestBytes) {
    Map<String, String> options =
        Host.options("connections", "1", "request-bytes", String.valueOf(requestBytes));
    engine =
        new Engine(
            new ReceiptIssuer(
                "orbitte-tcp", SELF, Map.of(Side.DESTINATION, Set.of(Evidence.LOCAL_QUIESCED))),
            CONTEXT.budget(),
            TcpSettings.parse(options),
            TcpMeters.of(CONTEXT.meters()),
            new EngineThreads(_ -> NeverStarted::new),
            TIMER,
            () -> 0,
            TestContext.GRACE_NANOS,
            new RegionTable(),
            new ReferenceBudget(0, _ -> {}),
            new AtomicLong());
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    peer = new TcpPeer(TRANSPORT, engine, address, OWNER);
  }

  /**
   * For the next world: without tickets.
   *
   * @param parts READs of one ticket, 1 or 2
   * @param timer is run for each thing that is due after the grace
   */
  static ExploredRequester next(int parts, Runnable timer) {
    ExploredRequester next = parts == 1 ? WHOLE : SPLIT;
    TIMER.left = timer;
    next.given = next.engine.receipts().openSubjects();
    next.engine.requestIds().set(0);
    // What an earlier world has left in its queue.
    var _ = next.down();
    return next;
  }

  TcpPeer peer() {
    return peer;
  }

  /** Its one lane is down: the tickets that fail with it. */
  List<TcpTicket> down() {
    return peer.down(peer.lanes().get(0));
  }

  /** Submits a ticket for the one range, under a grant of its own. */
  TcpTicket read(int number) {
    GrantForm grant =
        new GrantForm(
            new GrantId(number, 1, OWNER), SELF, new Token(4, number), new long[] {2 * CHUNK});
    Batch batch =
        Batch.from(peer.importRegion(grant.write()))
            .add(Descriptor.of(RANGE.id(), 0, 2 * CHUNK), RemoteDescriptor.of(0, 0, 2 * CHUNK))
            .build();
    TicketId id = new TicketId(++tickets, MANAGER);
    engine.receipts().open(id);
    return (TcpTicket) peer.read(batch, id, TicketOptions.NONE);
  }

  /** Takes and spends a ticket's receipt; false if there is none. */
  boolean spend(TcpTicket ticket) {
    Optional<DrainReceipt> receipt = ticket.drain();
    receipt.ifPresent(found -> engine.receipts().spend(found, ticket.id()));
    return receipt.isPresent();
  }

  /** How many tickets of this world have no receipt that was spent. */
  int unspent() {
    return engine.receipts().openSubjects() - given;
  }

  /** The next READ of the peer's queue; with the ids of the first again, if they repeat. */
  @Nullable Part nextPart(boolean idsRepeat) {
    if (idsRepeat) {
      engine.requestIds().set(0);
    }
    return peer.nextPart(peer.lanes().get(0), entries);
  }
}
