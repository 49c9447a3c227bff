package io.orbitkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Wrong on purpose: a gate whose check and entry are two steps. Run by itself, to see that such a
 * defect is caught; {@code EnterAgainstRetire} is the same race on the real gate.
 */
@JCStressTest
@Description("A gate of two steps lets a thread in behind its drain.")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "refused")
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "inside: not drained")
@Outcome(expect = Expect.FORBIDDEN, desc = "inside, and drained")
@State
public class TwoStepGate {
  private final AtomicInteger inside = new AtomicInteger();
  private volatile boolean retired;

  /** Whether it entered. */
  @Actor
  public void enter(II_Result r) {
    if (!retired) {
      inside.incrementAndGet();
      r.r1 = 1;
    }
  }

  /** Whether nobody was inside. */
  @Actor
  public void retire(II_Result r) {
    retired = true;
    r.r2 = inside.get() == 0 ? 1 : 0;
  }
}
