package io.orbitkv.provider.tcp;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.orbitkv.api.DrainReceipt;
import java.util.Optional;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** A READ enters a source while the grant is revoked, drained, and the source reused. */
@JCStressTest
@Description("A handler reads the granted bytes or is refused; it never reads the next block's.")
@Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "refused")
@Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "read before the receipt")
@Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "was inside: the receipt came afterwards")
@Outcome(expect = Expect.FORBIDDEN, desc = "read behind the receipt, or no receipt, or two")
@State
public class ReplyAgainstRevoke {
  private static final Fixture FIXTURE = Fixture.SHARED;
  private static final long GRANTED = 1;
  private static final long REUSED = 2;

  /** So many, that the other actor often comes in between. */
  private static final int READS = 64;

  private final Fixture.Slot source = FIXTURE.slot();
  private final TcpSourceHold hold = FIXTURE.admit(FIXTURE.transport, source.descriptor());
  private final Token token = GrantForm.read(hold.wireForm()).token();
  private Optional<DrainReceipt> receipt = Optional.empty();

  /** The block is in place. */
  public ReplyAgainstRevoke() {
    source.write(GRANTED);
  }

  /** The handler: 0 refused, 1 read what was granted, 3 read what came after it too. */
  @Actor
  public void reply(III_Result r) {
    if (hold.enter(token.high(), token.low(), FIXTURE.transport.epoch()) == null) {
      long seen = 0;
      for (int i = 0; i < READS; i++) {
        seen |= source.read();
        Thread.onSpinWait();
      }
      r.r1 = (int) seen;
      hold.leave();
    }
  }

  /** The Manager: with the receipt the memory is the next block's. */
  @Actor
  public void revoke(III_Result r) {
    hold.revoke();
    receipt = hold.drain();
    if (receipt.isPresent()) {
      source.write(REUSED);
      r.r2 = 1;
    }
  }

  /** Whether there was one receipt. */
  @Arbiter
  public void end(III_Result r) {
    Optional<DrainReceipt> later = hold.drain();
    r.r3 = receipt.isPresent() != later.isPresent() ? 1 : 0;
    receipt
        .or(() -> later)
        .ifPresent(proof -> FIXTURE.context.receipts().spend(proof, hold.grant()));
  }
}
