package io.orbitkv.provider.tcp;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.orbitkv.api.Batch;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.TicketId;
import java.util.Optional;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** A ticket's last bytes arrive while it is cancelled, drained, and its destination reused. */
@JCStressTest
@Description("Settle against drain: nothing writes behind a receipt, and there is one receipt.")
@Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "drained at once; no byte came after it")
@Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "a thread was inside: drained afterwards")
@Outcome(expect = Expect.FORBIDDEN, desc = "late bytes, or no receipt, or a wrong outcome")
@State
public class ReceiveAgainstCancel {
  private static final Fixture FIXTURE = Fixture.SHARED;
  private static final TcpPeer PEER =
      (TcpPeer)
          FIXTURE.transport.connect(
              FIXTURE.transport.endpoint(), FIXTURE.transport.epoch(), new byte[0]);
  private static final ImportedRegion SOURCE =
      (ImportedRegion)
          PEER.importRegion(
              FIXTURE.admit(FIXTURE.transport, FIXTURE.slot().descriptor()).wireForm());
  private static final long FILLED = 1;

  /** So many, that the other actor often comes in between. */
  private static final int WRITES = 64;

  private static final long REUSED = 2;

  private final Fixture.Slot destination = FIXTURE.slot();
  private final TicketId id = FIXTURE.openTicket();
  private final TcpTicket ticket;
  private final Part part;
  private Optional<DrainReceipt> receipt = Optional.empty();

  /** Posted, with one part under way. */
  public ReceiveAgainstCancel() {
    long bytes = destination.descriptor().length();
    Batch batch =
        Batch.from(SOURCE).add(destination.descriptor(), RemoteDescriptor.of(0, 0, bytes)).build();
    ticket = FIXTURE.transport.open(PEER, batch, id, SOURCE, 0);
    part = ticket.plan(new EntryList(), bytes, 1, System.nanoTime());
  }

  /** The reading thread. */
  @Actor
  public void receive() {
    if (ticket.enter()) {
      for (int i = 0; i < WRITES; i++) {
        destination.write(FILLED);
        Thread.onSpinWait();
      }
      ticket.leave(TcpTicket::tell);
      ticket.completed(part, TcpTicket::tell);
    }
  }

  /** The Manager: with the receipt the memory is somebody else's. */
  @Actor
  public void cancel(III_Result r) {
    ticket.cancel();
    receipt = ticket.drain();
    if (receipt.isPresent()) {
      destination.write(REUSED);
      r.r1 = 1;
    }
  }

  /** Late bytes, and whether outcome and receipt came, once. */
  @Arbiter
  public void end(III_Result r) {
    boolean reused = receipt.isPresent();
    r.r2 = reused && destination.read() != REUSED ? 1 : 0;
    Optional<DrainReceipt> later = ticket.drain();
    boolean once = reused != later.isPresent();
    boolean told = ticket.outcome().isPresent();
    // What says that it completed has its bytes in place.
    boolean completed = told && ticket.outcome().get().completed();
    boolean honest = !completed || reused || destination.read() == FILLED;
    r.r3 = once && told && honest ? 1 : 0;
    receipt.or(() -> later).ifPresent(proof -> FIXTURE.context.receipts().spend(proof, id));
  }
}
