package io.orbitkv.manager.catalog;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import io.orbitkv.manager.memory.Pool;
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

/** A grant looks a block up and pins it, while a publish evicts to make room. */
@JCStressTest
@Description("A block is found and held, or evicted; never both.")
@Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "held: the publish is refused")
@Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "evicted: nobody found it")
@Outcome(expect = Expect.FORBIDDEN, desc = "held and evicted, or neither, or a page was lost")
@State
public class HoldAgainstEviction {
  private static final BlockName NAME = BlockName.of("stress", new byte[] {1});

  private final Pool pool = OnePagePools.take();
  private final Catalog catalog = new Catalog(pool);
  private Optional<Hold> held = Optional.empty();
  private @Nullable Hold next;

  /** One block fills the pool. */
  public HoldAgainstEviction() {
    catalog.seal(NAME, catalog.reserve(1, "publish"));
  }

  /** The grant. */
  @Actor
  public void hold(III_Result r) {
    held = catalog.hold(NAME, HoldKind.SOURCE, "grant");
    r.r1 = held.isPresent() ? 1 : 0;
  }

  /** The publish. */
  @Actor
  public void evict(III_Result r) {
    try {
      next = catalog.reserve(1, "next");
      r.r2 = 1;
    } catch (TransportException e) {
      r.r2 = 0;
    }
  }

  /** Everything ends, and the block is evicted if it was not: the page must be free again. */
  @Arbiter
  public void end(III_Result r) {
    held.ifPresent(Hold::end);
    catalog.abandon(next == null ? catalog.reserve(1, "last") : next);
    r.r3 = OnePagePools.giveBack(pool) ? 1 : 0;
  }
}
