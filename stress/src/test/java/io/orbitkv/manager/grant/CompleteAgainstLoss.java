package io.orbitkv.manager.grant;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.ffm.PageSize;
import io.orbitkv.manager.catalog.Catalog;
import io.orbitkv.manager.control.Completion;
import io.orbitkv.manager.control.GrantOffer;
import io.orbitkv.manager.control.GrantRequest;
import io.orbitkv.manager.control.PeerHello;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.Pool;
import io.orbitkv.manager.transfer.DrainCoordinator;
import io.orbitkv.manager.transfer.ReceiptCounters;
import io.orbitkv.provider.tcp.OrbitteTcpProvider;
import io.orbitkv.stress.StressContext;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** The requester completes a grant while its owner revokes it, because the peer's lease is gone. */
@JCStressTest
@Description("Complete against revoke: one retires the grant, and its source is unpinned once.")
@Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "retired once; drained, unpinned")
@Outcome(expect = Expect.FORBIDDEN, desc = "still pinned, still a grant, or retired twice")
@State
public class CompleteAgainstLoss {
  private static final int PAGES = 1 << 14;
  private static final StressContext CONTEXT = StressContext.create();
  private static final Transport TRANSPORT = new OrbitteTcpProvider().open(CONTEXT);
  private static final Pool POOL = new Pool(PAGES * PageSize.bytes());
  private static final Catalog CATALOG = new Catalog(POOL);
  private static final DrainCoordinator COORDINATOR =
      new DrainCoordinator(CONTEXT.receipts(), new ReceiptCounters(), TimeUnit.HOURS.toNanos(1));
  private static final AtomicLong LAST = new AtomicLong();
  private static final PeerHello SELF = hello();
  private static final GrantAuthority AUTHORITY =
      new GrantAuthority(
          CATALOG,
          TRANSPORT,
          CONTEXT.receipts(),
          COORDINATOR,
          new GrantLimits(1, PageSize.bytes(), TimeUnit.HOURS.toNanos(1)),
          () -> SELF,
          (_, _) -> {});

  static {
    var _ = TRANSPORT.register(POOL.arenas().getFirst().region());
  }

  private final PeerHello peer = hello();
  private final long number = LAST.incrementAndGet();
  private final GrantRequest request;
  private final Hold filling;
  private final GrantOffer offer;

  /** A block of its own, granted. */
  public CompleteAgainstLoss() {
    BlockName name =
        BlockName.of("stress", ByteBuffer.allocate(Long.BYTES).putLong(number).array());
    filling = CATALOG.reserve(1, "publish");
    CATALOG.seal(name, filling);
    request =
        new GrantRequest(
            new TicketId(number, peer.managerEpoch()),
            peer.transportEpoch(),
            TRANSPORT.epoch(),
            List.of(name));
    offer = AUTHORITY.authorize(peer, request);
  }

  private static PeerHello hello() {
    return new PeerHello(
        Epoch.random(),
        "peer",
        "127.0.0.1:1",
        "orbitte-tcp",
        Epoch.random(),
        TRANSPORT.endpoint(),
        new byte[0]);
  }

  /** The requester's word. */
  @Actor
  public void complete() {
    AUTHORITY.complete(
        peer,
        new Completion(offer.grant(), request.ticket(), "Completed", Evidence.LOCAL_QUIESCED));
  }

  /** The owner's. */
  @Actor
  public void revoke() {
    AUTHORITY.peerLost(peer);
  }

  /** Whether a repeated request hears that the grant ended; whether anything is left of it. */
  @Arbiter
  public void end(III_Result r) {
    try {
      var _ = AUTHORITY.authorize(peer, request);
    } catch (TransportException e) {
      r.r1 = e.code() == FaultCode.GRANT_ENDED ? 1 : 0;
    }
    r.r2 = POOL.held(filling.allocation()) ? 1 : 0;
    r.r3 = COORDINATOR.waitingSubjects().contains(offer.grant()) ? 1 : 0;
  }
}
