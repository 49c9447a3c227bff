package io.orbitkv.provider.tcp;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.orbitkv.api.Descriptor;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.Region;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Transport;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** A grant is admitted over a region while its registration is closed. */
@JCStressTest
@Description("Submit against close, a source: memory is granted, or unregistered; never both.")
@Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "admitted: the close says IN_USE")
@Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "closed: the admission says NOT_FOUND")
@Outcome(expect = Expect.FORBIDDEN, desc = "both, or neither, or the close can not be repeated")
@State
public class AdmitAgainstUnregister {
  private static final Fixture FIXTURE = Fixture.SHARED;

  private final Region region = FIXTURE.unregistered();
  private final Registration registration = FIXTURE.transport.register(region);
  private final GrantId grant = FIXTURE.openGrant();
  private final Transport.Admission admission =
      new Transport.Admission(
          grant,
          FIXTURE.transport.epoch(),
          List.of(Descriptor.of(region.id(), 0, region.length())));
  private @Nullable SourceHold hold;

  /** The grant. */
  @Actor
  public void admit(III_Result r) {
    try {
      hold = FIXTURE.transport.admit(admission);
      r.r1 = 1;
    } catch (TransportException e) {
      r.r1 = 0;
    }
  }

  /** The unregistration. */
  @Actor
  public void close(III_Result r) {
    r.r2 = closed();
  }

  /** What is left ends. */
  @Arbiter
  public void end(III_Result r) {
    if (hold != null) {
      hold.revoke();
      hold.drain().ifPresent(proof -> FIXTURE.context.receipts().spend(proof, grant));
    } else {
      FIXTURE.context.receipts().spend(FIXTURE.context.receipts().neverSubmitted(grant), grant);
    }
    r.r3 = r.r2 == 1 ? 1 : closed();
  }

  private int closed() {
    try {
      registration.close();
      return 1;
    } catch (TransportException e) {
      return 0;
    }
  }
}
