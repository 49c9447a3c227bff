package io.orbitkv.manager.memory;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.orbitkv.stress.OnePagePools;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Pin against the end of the last hold and the next use of the bytes. */
@JCStressTest
@Description("A page is pinned, or it is used again; never both.")
@Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "pinned in time: not reused")
@Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "freed in time: reused, and the pin refused")
@Outcome(expect = Expect.FORBIDDEN, desc = "pinned and reused, or a page was lost")
@State
public class PinAgainstReuse {
  private final Pool pool = OnePagePools.take();
  private final Hold first = pool.reserve(1, "first").orElseThrow();
  private @Nullable Hold pin;
  private Optional<Hold> next = Optional.empty();

  /** A grant is given. */
  @Actor
  public void pin(III_Result r) {
    try {
      pin = pool.hold(first.allocation(), HoldKind.SOURCE, "pin");
      r.r1 = 1;
    } catch (IllegalStateException e) {
      r.r1 = 0;
    }
  }

  /** The block is evicted, and its page asked for. */
  @Actor
  public void reuse(III_Result r) {
    pool.retire(first.allocation());
    first.end();
    next = pool.reserve(1, "next");
    r.r2 = next.isPresent() ? 1 : 0;
  }

  /** Everything ends: the page must be free again. */
  @Arbiter
  public void end(III_Result r) {
    if (pin != null) {
      pin.end();
    }
    next.ifPresent(
        hold -> {
          pool.retire(hold.allocation());
          hold.end();
        });
    r.r3 = OnePagePools.giveBack(pool) ? 1 : 0;
  }
}
