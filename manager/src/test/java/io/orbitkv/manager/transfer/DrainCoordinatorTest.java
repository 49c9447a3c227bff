package io.orbitkv.manager.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.Side;
import io.orbitkv.api.TicketId;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DrainCoordinatorTest {
  private final ReceiptIssuer issuer = issuer();
  private final ReceiptCounters counters = new ReceiptCounters();
  private final DrainCoordinator coordinator =
      new DrainCoordinator(issuer, counters, TimeUnit.MILLISECONDS.toNanos(20));
  private final TicketId ticket = new TicketId(1, Epoch.random());
  private final AtomicInteger drained = new AtomicInteger();
  private final AtomicInteger quarantined = new AtomicInteger();

  private final DrainCoordinator.Listener listener =
      new DrainCoordinator.Listener() {
        @Override
        public void drained(DrainReceipt receipt) {
          drained.incrementAndGet();
        }

        @Override
        public void quarantined() {
          quarantined.incrementAndGet();
        }
      };

  private static ReceiptIssuer issuer() {
    return new ReceiptIssuer(
        "test", Epoch.random(), Map.of(Side.DESTINATION, Set.of(Evidence.LOCAL_QUIESCED)));
  }

  @AfterEach
  void close() {
    coordinator.close();
  }

  private void awaitIdle() throws InterruptedException {
    assertThat(coordinator.awaitIdle(System.nanoTime() + TimeUnit.SECONDS.toNanos(20))).isTrue();
  }

  @Test
  void lateEvidenceEndsAQuarantine() throws Exception {
    AtomicReference<Optional<DrainReceipt>> proof = new AtomicReference<>(Optional.empty());
    issuer.open(ticket);
    coordinator.watch(ticket, () -> proof.getAndSet(Optional.empty()), listener);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (quarantined.get() == 0) {
      assertThat(System.nanoTime()).as("the quarantine to be told").isLessThan(deadline);
      Thread.onSpinWait();
    }
    assertThat(drained).as("time is no evidence").hasValue(0);
    proof.set(Optional.of(issuer.issue(ticket, Evidence.LOCAL_QUIESCED)));
    awaitIdle();
    assertThat(drained).hasValue(1);
    assertThat(quarantined).hasValue(1);
  }

  @Test
  void aReceiptThatComesBeforeItsSubjectIsWatchedIsKept() {
    issuer.open(ticket);
    coordinator.accept(issuer.issue(ticket, Evidence.LOCAL_QUIESCED));
    assertThat(drained).hasValue(0);
    coordinator.watch(ticket, Optional::empty, listener);
    assertThat(drained).hasValue(1);
    assertThat(counters.refused()).isZero();
  }

  @Test
  void aReceiptOfAnotherIssuerFreesNothing() {
    ReceiptIssuer other = issuer();
    issuer.open(ticket);
    other.open(ticket);
    DrainReceipt foreign = other.issue(ticket, Evidence.LOCAL_QUIESCED);
    coordinator.watch(ticket, () -> Optional.of(foreign), listener);
    assertThat(drained).hasValue(0);
    assertThat(counters.refused()).isPositive();
    assertThat(coordinator.waitingSubjects()).containsExactly(ticket);
  }

  @Test
  void aListenerThatThrowsDoesNotStopTheOthers() throws Exception {
    TicketId second = new TicketId(2, ticket.epoch());
    AtomicReference<Optional<DrainReceipt>> proof = new AtomicReference<>(Optional.empty());
    issuer.open(ticket);
    issuer.open(second);
    coordinator.watch(second, () -> proof.getAndSet(Optional.empty()), listener);
    coordinator.watch(
        ticket,
        () -> Optional.of(issuer.issue(ticket, Evidence.LOCAL_QUIESCED)),
        new DrainCoordinator.Listener() {
          @Override
          public void drained(DrainReceipt receipt) {
            throw new IllegalStateException("planted");
          }

          @Override
          public void quarantined() {}
        });
    proof.set(Optional.of(issuer.issue(second, Evidence.LOCAL_QUIESCED)));
    awaitIdle();
    assertThat(drained).hasValue(1);
  }
}
