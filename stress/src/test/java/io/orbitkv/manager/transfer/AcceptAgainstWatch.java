package io.orbitkv.manager.transfer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.GrantId;
import io.orbitkv.stress.StressContext;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The close of a source hands a receipt over, while its grant is just being retired. */
@JCStressTest
@Description("A receipt that is handed over is spent once, whichever way it comes.")
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "spent once, and the subject is forgotten")
@Outcome(expect = Expect.FORBIDDEN, desc = "lost, or spent twice")
@State
public class AcceptAgainstWatch {
  private static final StressContext CONTEXT = StressContext.create();
  private static final AtomicLong LAST = new AtomicLong();
  private static final DrainCoordinator COORDINATOR =
      new DrainCoordinator(CONTEXT.receipts(), new ReceiptCounters(), TimeUnit.HOURS.toNanos(1));

  private final GrantId grant = grant(CONTEXT.receipts().epoch());
  private final DrainReceipt receipt;
  private final AtomicInteger drained = new AtomicInteger();

  /** The provider has issued the receipt. */
  public AcceptAgainstWatch() {
    CONTEXT.receipts().open(grant);
    receipt = CONTEXT.receipts().issue(grant, Evidence.LOCAL_QUIESCED);
  }

  private static GrantId grant(Epoch epoch) {
    long number = LAST.incrementAndGet();
    return new GrantId(number, number, epoch);
  }

  /** The grant is retired; the provider's drain() gives no second receipt. */
  @Actor
  public void watch() {
    COORDINATOR.watch(
        grant,
        Optional::empty,
        new DrainCoordinator.Listener() {
          @Override
          public void drained(DrainReceipt spent) {
            drained.incrementAndGet();
          }

          @Override
          public void quarantined() {}
        });
  }

  /** The source is closed. */
  @Actor
  public void accept() {
    COORDINATOR.accept(receipt);
  }

  /** How often it was spent, and whether it is waited for. */
  @Arbiter
  public void end(II_Result r) {
    r.r1 = drained.get();
    r.r2 = COORDINATOR.waitingSubjects().contains(grant) ? 1 : 0;
  }
}
