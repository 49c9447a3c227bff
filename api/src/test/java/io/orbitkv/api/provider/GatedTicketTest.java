package io.orbitkv.api.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class GatedTicketTest {
  private static final Outcome LOST = new Outcome.Failed(FaultCode.PEER_LOST, "cut");
  private static final int ROUNDS = 500;

  private final TwoEnds ends = new TwoEnds();
  private final Region destination = TwoEnds.region(Permission.READ_WRITE);
  private final ImportedGrant source = ends.source();

  GatedTicketTest() {
    var _ = ends.requester.register(destination);
  }

  private GatedTicket ticket(Runnable stuck) {
    return ends.submit(TwoEnds.batch(source, destination.id(), 0, TwoEnds.BYTES), stuck);
  }

  // Guards: the gate.leave of GatedTicket.leave decides who settles, not GatedTicket.end; the
  // compareAndSet of GatedTicket.end.
  @Test
  void outcomeWaitsForTheLastOneInsideAndIsTheFirstEnd() {
    AtomicInteger stuck = new AtomicInteger();
    List<Outcome> told = new ArrayList<>();
    GatedTicket ticket = ticket(stuck::incrementAndGet);
    ticket.onSettled(told::add);
    assertThat(ticket.enter()).isTrue();
    assertThat(ticket.enter()).isTrue();
    assertThat(ticket.ended()).isFalse();
    ticket.end(LOST);
    ticket.cancel();
    ticket.end(Outcome.COMPLETED);
    assertThat(ticket.enter()).isFalse();
    assertThat(ticket.ended()).isTrue();
    assertThat(stuck).as("told that somebody is inside").hasValue(1);
    ticket.leave();
    assertThat(ticket.outcome()).isEmpty();
    assertThat(ticket.drain()).isEmpty();
    ticket.leave();
    assertThat(ticket.outcome()).contains(LOST);
    assertThat(told).containsExactly(LOST);
    assertThat(ticket.drain()).isPresent();
    assertThat(ticket.drain()).isEmpty();
    assertThatThrownBy(ticket::leave).isInstanceOf(IllegalStateException.class);
  }

  // Guard: "else" before stuck.run() in GatedTicket.end.
  @Test
  void nobodyInsideIsNotStuck() throws InterruptedException {
    AtomicInteger stuck = new AtomicInteger();
    GatedTicket ticket = ticket(stuck::incrementAndGet);
    assertThat(ticket.await(0)).isEmpty();
    ticket.cancel();
    assertThat(ticket.await(0)).contains(Outcome.CANCELLED);
    List<Outcome> told = new ArrayList<>();
    ticket.onSettled(told::add);
    assertThat(told).containsExactly(Outcome.CANCELLED);
    assertThatThrownBy(() -> ticket.onSettled(told::add)).hasMessageContaining("callback already");
    assertThat(stuck).hasValue(0);
  }

  // Guards: the two catches of GatedTicket.outcomeOf.
  @Test
  void whatTheWorkThrowsIsItsOutcome() {
    assertThat(outcomeOf(() -> Outcome.COMPLETED)).isEqualTo(Outcome.COMPLETED);
    TransportException refusal = new TransportException(FaultCode.GRANT_ENDED, "ended");
    assertThat(outcomeOf(() -> raise(refusal)))
        .isEqualTo(new Outcome.Failed(FaultCode.GRANT_ENDED, "ended"));
    Outcome defect = outcomeOf(() -> raise(new InternalError("a page is gone")));
    assertThat(defect).asString().contains("INTERNAL", "a page is gone");
  }

  private Outcome outcomeOf(Supplier<Outcome> work) {
    AtomicInteger stuck = new AtomicInteger();
    GatedTicket ticket = ticket(stuck::incrementAndGet);
    ticket.run(work);
    assertThat(stuck).hasValue(0);
    assertThat(ticket.drain()).isPresent();
    return ticket.outcome().orElseThrow();
  }

  private static Outcome raise(RuntimeException thrown) {
    throw thrown;
  }

  private static Outcome raise(Error thrown) {
    throw thrown;
  }

  // Guards: GatedTicket.enter asking the gate; for the number of receipts "synchronized" of
  // GatedTicket.drain.
  @Test
  void nothingIsWrittenAfterTheReceiptThatOneOfManyGets() throws Exception {
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      for (int round = 0; round < ROUNDS; round++) {
        raceToTheReceipt(threads, round);
      }
    }
  }

  private void raceToTheReceipt(ExecutorService threads, int round) throws Exception {
    MemorySegment memory = destination.memory();
    AtomicInteger told = new AtomicInteger();
    GatedTicket ticket = ticket(() -> {});
    ticket.onSettled(_ -> told.incrementAndGet());
    CountDownLatch writing = new CountDownLatch(2);
    ConcurrentLinkedQueue<DrainReceipt> receipts = new ConcurrentLinkedQueue<>();
    List<Future<?>> running = new ArrayList<>();
    for (int writer = 0; writer < 2; writer++) {
      running.add(threads.submit(() -> write(ticket, memory, writing)));
    }
    writing.await();
    for (int ender = 0; ender < 2; ender++) {
      running.add(
          threads.submit(
              () -> {
                ticket.cancel();
                Optional<DrainReceipt> receipt = ticket.drain();
                while (receipt.isEmpty() && receipts.isEmpty()) {
                  Thread.onSpinWait();
                  receipt = ticket.drain();
                }
                receipt.ifPresent(
                    got -> {
                      memory.fill((byte) 0);
                      receipts.add(got);
                    });
              }));
    }
    for (Future<?> one : running) {
      one.get();
    }
    assertThat(memory.mismatch(MemorySegment.ofArray(new byte[TwoEnds.BYTES])))
        .as("a byte that was written after the receipt, round %d", round)
        .isEqualTo(-1);
    assertThat(receipts).as("receipts, round %d", round).hasSize(1);
    ends.requesterContext.receipts().spend(receipts.element(), ticket.id());
    assertThat(told).as("callbacks, round %d", round).hasValue(1);
  }

  private static void write(GatedTicket ticket, MemorySegment memory, CountDownLatch writing) {
    while (ticket.enter()) {
      memory.fill((byte) 0x5a);
      writing.countDown();
      ticket.leave();
    }
  }
}
