package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that wait receive for each other, and nobody has to wait for a reply to be received. */
final class ReceivingThreadsTest {
  private static final int THREADS = 6;
  private static final int READS = 150;
  private static final int SLOT = 5 << 20;

  @ParameterizedTest
  @ValueSource(strings = {"1", "2", "4"})
  void everyTicketEndsHoweverItIsWaitedFor(String connections) throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    try (Host owner = Host.open();
        Host requester = Host.open("connections", connections);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      Region source = owner.filled(SLOT, 5);
      Region target = requester.registered((long) THREADS * SLOT);
      Peer peer = requester.connect(owner);
      RemoteRegion remote = peer.importRegion(owner.admitWhole(requester, source).wireForm());
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        long slot = (long) i * SLOT;
        Random random = new Random(seed + i);
        running.add(
            threads.submit(
                () -> {
                  for (int n = 0; n < READS; n++) {
                    long bytes = random.nextInt(4) > 0 ? 4_096 : SLOT;
                    Batch batch =
                        Batch.from(remote)
                            .add(
                                Descriptor.of(target.id(), slot, bytes),
                                RemoteDescriptor.of(0, 0, bytes))
                            .build();
                    end(requester, requester.read(peer, batch), random);
                  }
                  return null;
                }));
      }
      for (Future<?> thread : running) {
        thread.get(100, TimeUnit.SECONDS);
      }
      assertThat(requester.context.meter("connection_failures")).isZero();
      // Those of a cancelled ticket are read to their end after its receipt.
      Await.until("nothing in flight", () -> requester.context.meter("requests_in_flight") == 0);
    }
  }

  private static void end(Host requester, Ticket ticket, Random random) throws Exception {
    boolean cancelled = false;
    switch (random.nextInt(5)) {
      // Guard: LaneReceiver.look; without it what only a callback waits for is never received.
      case 0 -> {
        CompletableFuture<Outcome> told = new CompletableFuture<>();
        ticket.onSettled(told::complete);
        told.get(20, TimeUnit.SECONDS);
      }
      // Others may have relied on the thread that leaves.
      case 1 -> {
        var _ = ticket.await(random.nextInt(100_000));
        Await.until("outcome", () -> ticket.outcome().isPresent());
      }
      // Its reply is read to its end before the next.
      case 2 -> {
        cancelled = true;
        ticket.cancel();
      }
      default -> {}
    }
    Outcome outcome = Host.outcome(ticket);
    if (!cancelled) {
      assertThat(outcome).isEqualTo(Outcome.COMPLETED);
    }
    Await.until(
        "receipt", () -> ticket.drain().map(receipt -> spend(requester, receipt)).orElse(false));
  }

  private static boolean spend(Host requester, DrainReceipt receipt) {
    requester.context.receipts().spend(receipt, receipt.subject());
    return true;
  }

  @Test
  void aCallbackThatTakesItsTimeHoldsNoOtherTicketUp() throws Exception {
    try (Host owner = Host.open();
        Proxy proxy = new Proxy(owner.transport);
        Host requester = Host.open("connections", "1")) {
      Region source = owner.filled(4_096, 5);
      Region target = requester.registered(2 * 4_096);
      Peer peer =
          requester.transport.connect(proxy.endpoint(), owner.transport.epoch(), new byte[0]);
      RemoteRegion remote = peer.importRegion(owner.admitWhole(requester, source).wireForm());
      proxy.allow(Wire.PREFACE_BYTES);
      Ticket first = requester.read(peer, slot(remote, target, 0));
      CountDownLatch told = new CountDownLatch(1);
      CountDownLatch over = new CountDownLatch(1);
      first.onSettled(
          _ -> {
            told.countDown();
            try {
              over.await();
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
          });
      proxy.allow(Long.MAX_VALUE);
      try {
        assertThat(told.await(20, TimeUnit.SECONDS)).isTrue();
        // Guard: unlockAndTell in LaneReceiver; under its lock nobody else could receive.
        assertThat(Host.outcome(requester.read(peer, slot(remote, target, 4_096))))
            .isEqualTo(Outcome.COMPLETED);
      } finally {
        over.countDown();
      }
    }
  }

  private static Batch slot(RemoteRegion remote, Region target, long at) {
    return Batch.from(remote)
        .add(Descriptor.of(target.id(), at, 4_096), RemoteDescriptor.of(0, 0, 4_096))
        .build();
  }

  @Test
  void aThreadThatWaitsIsTheOneThatReceives() {
    try (Host owner = Host.open();
        Host requester = Host.open()) {
      Region source = owner.filled(4_096, 5);
      Region target = requester.registered(4_096);
      Peer peer = requester.connect(owner);
      RemoteRegion remote = peer.importRegion(owner.admitWhole(requester, source).wireForm());
      Batch batch =
          Batch.from(remote)
              .add(Descriptor.of(target.id(), 0, 4_096), RemoteDescriptor.of(0, 0, 4_096))
              .build();
      int own = 0;
      for (int i = 0; i < 1_000; i++) {
        Thread[] teller = new Thread[1];
        Ticket ticket = requester.read(peer, batch);
        ticket.onSettled(_ -> teller[0] = Thread.currentThread());
        assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
        requester.spend(ticket);
        own += teller[0] == Thread.currentThread() ? 1 : 0;
      }
      // Guard: LaneReceiver.receiveFor; without it the lane's thread receives, and hands every one
      // over.
      assertThat(own).isGreaterThan(500);
    }
  }
}
