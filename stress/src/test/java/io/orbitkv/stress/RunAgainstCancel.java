package io.orbitkv.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.Side;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.provider.GatedTicket;
import io.orbitkv.api.provider.OpenWork;
import io.orbitkv.api.spi.Registration;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** The parts for a provider: a ticket runs while it is cancelled, drained and unregistered. */
@JCStressTest
@Description("Run against cancel: nothing writes behind a receipt, and there is one receipt.")
@org.openjdk.jcstress.annotations.Outcome(
    id = "1, 0, 1",
    expect = ACCEPTABLE,
    desc = "drained at once, and unregistered; no byte came after it")
@org.openjdk.jcstress.annotations.Outcome(
    id = "0, 0, 1",
    expect = ACCEPTABLE,
    desc = "a thread was inside: IN_USE, and drained afterwards")
@org.openjdk.jcstress.annotations.Outcome(
    expect = Expect.FORBIDDEN,
    desc = "late bytes, no receipt or two, or memory that was given up under a ticket")
@State
public class RunAgainstCancel {
  private static final Set<Evidence> QUIESCED = Set.of(Evidence.LOCAL_QUIESCED);
  private static final Capabilities CAPABILITIES =
      new Capabilities(
          Set.of(MemoryKind.Type.HOST),
          Map.of(Side.DESTINATION, QUIESCED, Side.SOURCE, QUIESCED),
          64,
          1,
          true,
          true);
  private static final RemoteRegion SOURCE = new Source(new GrantId(1, 1, Epoch.random()));
  private static final byte FILLED = 1;
  private static final byte REUSED = 2;

  /** So many, that the other actor often comes in between. */
  private static final int WRITES = 64;

  private final MemorySegment memory = MemorySegment.ofArray(new byte[8]);
  private final Registration registration;
  private final GatedTicket ticket;
  private Optional<DrainReceipt> receipt = Optional.empty();
  private boolean unregistered;

  private record Source(GrantId grant) implements RemoteRegion {
    @Override
    public int ranges() {
      return 1;
    }

    @Override
    public long length(int range) {
      return 8;
    }
  }

  /** Posted. */
  public RunAgainstCancel() {
    StressContext context = StressContext.create();
    OpenWork work = new OpenWork("stress", context, CAPABILITIES);
    RegionId region = new RegionId(0, 1);
    registration =
        work.register(
            new Region(
                region,
                -1,
                0,
                memory,
                MemoryKind.HOST,
                Permission.READ_WRITE,
                Region.Backing.BORROWED));
    TicketId id = new TicketId(1, context.receipts().epoch());
    context.receipts().open(id);
    Batch batch =
        Batch.from(SOURCE).add(Descriptor.of(region, 0, 8), RemoteDescriptor.of(0, 0, 8)).build();
    ticket = work.submit(batch, id, Evidence.LOCAL_QUIESCED, () -> {});
  }

  /** The thread that moves bytes. */
  @Actor
  public void run() {
    ticket.run(
        () -> {
          for (int i = 0; i < WRITES; i++) {
            ticket.destination(0).set(ValueLayout.JAVA_BYTE, 0, FILLED);
            Thread.onSpinWait();
          }
          return Outcome.COMPLETED;
        });
  }

  /** The Manager: with the receipt the memory is somebody else's. */
  @Actor
  public void cancel(III_Result r) {
    ticket.cancel();
    receipt = ticket.drain();
    unregistered = closes();
    if (receipt.isPresent()) {
      memory.set(ValueLayout.JAVA_BYTE, 0, REUSED);
      r.r1 = 1;
    }
  }

  private boolean closes() {
    try {
      registration.close();
      return true;
    } catch (TransportException e) {
      return false;
    }
  }

  /** Late bytes, and whether outcome and receipt came, once, and before the memory was given up. */
  @Arbiter
  public void end(III_Result r) {
    boolean reused = receipt.isPresent();
    r.r2 = reused && memory.get(ValueLayout.JAVA_BYTE, 0) != REUSED ? 1 : 0;
    boolean once = reused != ticket.drain().isPresent();
    boolean kept = unregistered == reused && (unregistered || closes());
    r.r3 = once && kept && ticket.outcome().isPresent() ? 1 : 0;
  }
}
