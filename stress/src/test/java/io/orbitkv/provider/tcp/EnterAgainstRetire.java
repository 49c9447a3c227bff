package io.orbitkv.provider.tcp;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** The atomic word itself: a thread enters and leaves while the gate is retired. */
@JCStressTest
@Description("One step drains the gate, and none enters after it.")
@Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "retired first: nobody entered")
@Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "left first: the retirement drained it")
@Outcome(id = "2, 0, 1", expect = ACCEPTABLE, desc = "retired inside: the leaving drained it")
@Outcome(expect = Expect.FORBIDDEN, desc = "drained twice, never, or with a thread inside")
@State
public class EnterAgainstRetire {
  private final Gate gate = new Gate();

  /** 0: refused; 1: entered and left; 2: and drained it; 9: it was drained with this one inside. */
  @Actor
  public void enter(III_Result r) {
    if (gate.enter()) {
      boolean drainedUnderMe = gate.drained();
      boolean last = gate.leave();
      r.r1 = drainedUnderMe ? 9 : last ? 2 : 1;
    }
  }

  /** Whether this step drained it. */
  @Actor
  public void retire(III_Result r) {
    r.r2 = gate.retire() ? 1 : 0;
  }

  /** Whether it is drained and shut. */
  @Arbiter
  public void end(III_Result r) {
    r.r3 = gate.drained() && !gate.enter() ? 1 : 0;
  }
}
