package io.orbitkv.provider.tcp;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.stress.StressContext;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** A READ is submitted while the requester quiesces, unregisters and closes. */
@JCStressTest
@Description("Submit against close, the requester: a ticket keeps its memory registered.")
@Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "closed first: the READ was refused")
@Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "posted first: unregistering says IN_USE")
@Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "refused, and seen in passing as IN_USE")
@Outcome(expect = Expect.FORBIDDEN, desc = "posted into memory that was given up")
@State
public class SubmitAgainstClose {
  private static final Fixture FIXTURE = Fixture.SHARED;
  private static final InetSocketAddress ANY_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final StressContext context = StressContext.create();
  private final TcpTransport transport =
      new TcpTransport(
          Engine.of(context, TcpSettings.parse(context.options())),
          FIXTURE.transport.capabilities(),
          ANY_PORT);
  private final RegionId region = new RegionId(0, 1);
  private final Registration registration =
      transport.register(Fixture.region(region, FIXTURE.slot().memory()));
  private final TcpPeer peer =
      (TcpPeer)
          transport.connect(FIXTURE.transport.endpoint(), FIXTURE.transport.epoch(), new byte[0]);
  private final TicketId id = new TicketId(1, transport.epoch());
  private final ImportedRegion source;
  private final Batch batch;
  private @Nullable TcpTicket ticket;
  private boolean unregistered;
  private boolean closed;

  /** A batch over the one region. */
  public SubmitAgainstClose() {
    TcpSourceHold hold = FIXTURE.admit(FIXTURE.transport, FIXTURE.slot().descriptor());
    source = new ImportedRegion(peer, GrantForm.read(hold.wireForm()));
    hold.revoke();
    hold.drain().ifPresent(proof -> FIXTURE.context.receipts().spend(proof, hold.grant()));
    batch =
        Batch.from(source).add(Descriptor.of(region, 0, 8), RemoteDescriptor.of(0, 0, 8)).build();
    context.receipts().open(id);
  }

  /** The READ. */
  @Actor
  public void submit(III_Result r) {
    try {
      ticket = transport.open(peer, batch, id, source, 0);
      r.r1 = 1;
    } catch (TransportException e) {
      r.r1 = 0;
    }
  }

  /** The shutdown: whether the memory was given up. */
  @Actor
  public void close(III_Result r) {
    transport.quiesce();
    unregistered = closes(registration::close);
    if (unregistered) {
      closed = closes(transport::close);
    }
    r.r2 = unregistered ? 1 : 0;
  }

  /** The ticket ends; then everything must close. */
  @Arbiter
  public void end(III_Result r) {
    if (ticket != null) {
      ticket.cancel();
      var _ = ticket.drain();
    }
    boolean free = unregistered || closes(registration::close);
    r.r3 = free && (closed || closes(transport::close)) ? 1 : 0;
  }

  private static boolean closes(Runnable close) {
    try {
      close.run();
      return true;
    } catch (TransportException e) {
      return false;
    }
  }
}
