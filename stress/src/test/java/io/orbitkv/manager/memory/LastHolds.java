package io.orbitkv.manager.memory;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.orbitkv.stress.OnePagePools;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** The last two holds on a retired allocation end at once. */
@JCStressTest
@Description("Whoever ends the last hold frees the page, once; nobody else does.")
@Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "the first saw the page free")
@Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "the second saw the page free")
@Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "both looked after the last end")
@Outcome(expect = Expect.FORBIDDEN, desc = "nobody freed it, or it was freed too early")
@State
public class LastHolds {
  private final Pool pool = OnePagePools.take();
  private final Hold filling = pool.reserve(1, "block").orElseThrow();
  private final Hold source = pool.hold(filling.allocation(), HoldKind.SOURCE, "grant");

  /** Retired, and still held twice. */
  public LastHolds() {
    pool.retire(filling.allocation());
  }

  /** The copy's end. */
  @Actor
  public void copyEnds(III_Result r) {
    filling.end();
    r.r1 = free();
  }

  /** The grant's receipt. */
  @Actor
  public void grantEnds(III_Result r) {
    source.end();
    r.r2 = free();
  }

  /** Free, and once: the pool is whole. */
  @Arbiter
  public void end(III_Result r) {
    boolean freed = pool.state(filling.allocation()) == AllocationState.FREED;
    r.r3 = OnePagePools.giveBack(pool) && freed ? 1 : 0;
  }

  private int free() {
    return pool.usage().free() > 0 ? 1 : 0;
  }
}
