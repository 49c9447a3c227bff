package io.orbitkv.provider.tcp;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.stress.StressContext;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** A grant is admitted, and its READ enters, while the source is closed. */
@JCStressTest
@Description("Submit against close, the transport: what closeSource missed was never admitted.")
@Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "closed first: the admission says CLOSING")
@Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "admitted, refused or drained by the close")
@Outcome(expect = Expect.FORBIDDEN, desc = "a READ may enter a closed source, or it can not end")
@State
public class AdmitAgainstCloseSource {
  private static final Fixture FIXTURE = Fixture.SHARED;
  private static final InetSocketAddress ANY_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final StressContext context = StressContext.create();
  private final TcpTransport transport =
      new TcpTransport(
          Engine.of(context, TcpSettings.parse(context.options())),
          FIXTURE.transport.capabilities(),
          ANY_PORT);
  private final Region region = Fixture.region(new RegionId(0, 1), FIXTURE.slot().memory());
  private final Registration registration = transport.register(region);
  private final GrantId grant = new GrantId(1, 1, transport.epoch());
  private final Transport.Admission admission =
      new Transport.Admission(
          grant, FIXTURE.transport.epoch(), List.of(Descriptor.of(region.id(), 0, 8)));
  private @Nullable TcpSourceHold hold;
  private List<DrainReceipt> receipts = List.of();

  /** The grant may be named to the issuer. */
  public AdmitAgainstCloseSource() {
    context.receipts().open(grant);
  }

  /** A grant, and at once a READ under it. */
  @Actor
  public void admit(III_Result r) {
    try {
      TcpSourceHold admitted = (TcpSourceHold) transport.admit(admission);
      hold = admitted;
      if (enters(admitted)) {
        admitted.leave();
      }
      r.r1 = 1;
    } catch (TransportException e) {
      r.r1 = 0;
    }
  }

  /** The shutdown. */
  @Actor
  public void close(III_Result r) {
    receipts = transport.closeSource(System.nanoTime() + TimeUnit.SECONDS.toNanos(10));
    r.r2 = receipts.size();
  }

  /** Nothing may enter any more, and the engine can end. */
  @Arbiter
  public void end(III_Result r) {
    boolean shut = hold == null || !enters(hold);
    try {
      registration.close();
      transport.close();
      r.r3 = shut ? 1 : 0;
    } catch (TransportException e) {
      r.r3 = 2;
    }
  }

  private static boolean enters(TcpSourceHold hold) {
    Token token = GrantForm.read(hold.wireForm()).token();
    return hold.enter(token.high(), token.low(), FIXTURE.transport.epoch()) == null;
  }
}
