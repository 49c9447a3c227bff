package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Permission;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * The pairs that race: submit and submit, cancel and complete, submit and quiesce, use and close.
 */
public abstract class ConcurrencyTck extends ProviderTck {
  private static final int THREADS = 4;
  private static final long SEED = 99;

  /** For subclasses. */
  protected ConcurrencyTck() {}

  @Test
  void manySubmittersGetTheirOwnBytes() throws Exception {
    List<Callable<Void>> work = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      Exchange exchange = new Exchange(pair(), 40_000 + t);
      byte value = (byte) (64 + t);
      exchange.from.fill(value);
      work.add(
          () -> {
            for (int i = 0; i < 40; i++) {
              exchange.to.fill(Exchange.BEFORE);
              Ticket ticket = exchange.read();
              assertThat(Await.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
              exchange.to.assertHolds("destination", exchange.all(value));
              var _ = pair().requester().spend(ticket);
            }
            return null;
          });
    }
    together(work);
  }

  @Test
  void cancelRacesCompletion() throws Exception {
    Exchange exchange = new Exchange(pair(), 60_000);
    Random random = new Random(SEED);
    for (int i = 0; i < 60; i++) {
      exchange.to.fill(Exchange.BEFORE);
      Ticket ticket = exchange.read();
      long pause = random.nextInt(300_000);
      together(
          List.of(
              () -> {
                LockSupport.parkNanos(pause);
                ticket.cancel();
                return null;
              },
              () -> {
                if (Await.outcome(ticket).completed()) {
                  exchange.to.assertHolds("seed " + SEED, exchange.all(Exchange.SOURCE));
                }
                return null;
              }));
      var _ = pair().requester().spend(ticket);
      exchange.to.fill(Exchange.REUSED);
      exchange.to.assertStays("seed " + SEED, exchange.all(Exchange.REUSED), 500_000);
    }
  }

  @Test
  void submissionRacesQuiesce() throws Exception {
    for (int round = 0; round < 8; round++) {
      try (EnginePair two = EnginePair.open(fixture(), EnginePair.BUDGET)) {
        List<Callable<Void>> work = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
          Exchange exchange = new Exchange(two, 10_000);
          Batch batch = exchange.batch(exchange.grant(), 2);
          work.add(() -> readUntilRefused(two, exchange, batch));
        }
        long pause = 200_000L * round;
        work.add(
            () -> {
              LockSupport.parkNanos(pause);
              two.requester().transport().quiesce();
              return null;
            });
        together(work);
      }
    }
  }

  private static Void readUntilRefused(EnginePair two, Exchange exchange, Batch batch) {
    for (int i = 0; i < 10_000; i++) {
      exchange.to.fill(Exchange.BEFORE);
      Ticket ticket;
      try {
        ticket = two.requester().read(exchange.peer, batch);
      } catch (TransportException e) {
        assertThat(e.code()).isEqualTo(FaultCode.CLOSING);
        exchange.to.assertStays(
            "destination of a read that threw", exchange.all(Exchange.BEFORE), 5_000_000);
        return null;
      }
      assertThat(Await.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
      var _ = two.requester().spend(ticket);
    }
    throw new AssertionError("10,000 reads and never CLOSING after quiesce");
  }

  @Test
  void registeringRacesAdmissionAndClose() throws Exception {
    KitEngine owner = pair().owner();
    List<Callable<Void>> work = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      GuardedMemory memory = owner.memory(4_096);
      work.add(
          () -> {
            for (int i = 0; i < 100; i++) {
              Registration registration = owner.registration(memory, Permission.READ);
              SourceHold hold = pair().admit(registration.region());
              assertRefused(FaultCode.IN_USE, registration::close);
              hold.revoke();
              var _ = owner.spend(hold);
              registration.close();
              owner.forget(registration);
            }
            return null;
          });
    }
    together(work);
  }

  @Test
  void onlyOneOfManyDrainsGetsTheReceipt() throws Exception {
    Exchange exchange = new Exchange(pair(), 4_096);
    for (int i = 0; i < 30; i++) {
      Ticket ticket = exchange.read();
      var _ = Await.outcome(ticket);
      List<Callable<Integer>> work = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        work.add(
            () ->
                ticket
                    .drain()
                    .map(
                        receipt -> {
                          var _ = pair().requester().spend(ticket, receipt);
                          return 1;
                        })
                    .orElse(0));
      }
      int receipts = together(work).stream().mapToInt(Integer::intValue).sum();
      if (receipts == 0) {
        var _ = pair().requester().spend(ticket);
      }
      assertThat(receipts).isLessThanOrEqualTo(1);
    }
  }

  /** Runs all at once; fails as the first of them does. */
  private static <T> List<T> together(List<? extends Callable<T>> work)
      throws InterruptedException, ExecutionException, TimeoutException {
    ExecutorService threads = Executors.newFixedThreadPool(work.size());
    try {
      CountDownLatch start = new CountDownLatch(work.size());
      List<Future<T>> futures = new ArrayList<>();
      for (Callable<T> each : work) {
        futures.add(
            threads.submit(
                () -> {
                  start.countDown();
                  start.await();
                  return each.call();
                }));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> future : futures) {
        results.add(future.get(30, TimeUnit.SECONDS));
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }
}
