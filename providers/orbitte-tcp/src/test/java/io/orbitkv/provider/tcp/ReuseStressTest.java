package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Memory is used again at once after each receipt, while tickets, grants and connections end. */
class ReuseStressTest {
  private static final int SLOT = 256 << 10;
  private static final int WORKERS = 4;
  private static final int ROUNDS = 100;

  @Test
  void noByteOfAnEndedUseIsWrittenOrSent() throws IOException {
    // Guard: without the retired bit in Gate.enter, or with a receipt before the last thread left,
    // a slot changes after its receipt or a reply carries the source's next use.
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    try (Host owner = Host.open();
        Host requester = Host.open("request-bytes", "65536");
        Proxy proxy = new Proxy(owner.transport);
        ExecutorService threads = Executors.newFixedThreadPool(WORKERS + 1)) {
      AtomicBoolean done = new AtomicBoolean();
      AtomicInteger completed = new AtomicInteger();
      var cutter =
          CompletableFuture.runAsync(
              () -> {
                long next = 10L * SLOT;
                while (!done.get()) {
                  if (proxy.forwarded() > next) {
                    proxy.cut();
                    next = proxy.forwarded() + 10L * SLOT;
                  }
                  LockSupport.parkNanos(1_000_000);
                }
              },
              threads);
      List<CompletableFuture<Void>> workers = new ArrayList<>();
      for (int i = 0; i < WORKERS; i++) {
        long own = seed + i;
        workers.add(
            CompletableFuture.runAsync(
                () -> work(owner, requester, proxy, new Random(own), completed), threads));
      }
      try {
        workers.forEach(CompletableFuture::join);
      } finally {
        done.set(true);
      }
      cutter.join();
      assertThat(completed).hasPositiveValue();
      System.out.println(completed + " of " + WORKERS * ROUNDS + " completed");
    }
  }

  private static void work(
      Host owner, Host requester, Proxy proxy, Random random, AtomicInteger completed) {
    Region source = owner.registered(SLOT);
    Region target = requester.registered(SLOT);
    Peer peer = requester.transport.connect(proxy.endpoint(), owner.transport.epoch(), new byte[0]);
    for (int round = 0; round < ROUNDS; round++) {
      byte use = (byte) round;
      source.memory().fill(use);
      target.memory().fill((byte) ~use);
      SourceHold hold = owner.admitWhole(requester, source);
      RemoteRegion remote = peer.importRegion(hold.wireForm());
      int bytes = 1 + random.nextInt(SLOT);
      Ticket ticket =
          requester.read(
              peer,
              Batch.from(remote)
                  .add(Descriptor.of(target.id(), 0, bytes), RemoteDescriptor.of(0, 0, bytes))
                  .build());
      for (int spin = random.nextInt(10_000); spin > 0; spin--) {
        Thread.onSpinWait();
      }
      switch (random.nextInt(3)) {
        case 0 -> ticket.cancel();
        case 1 -> hold.revoke();
        default -> {}
      }
      Outcome outcome = Host.outcome(ticket);
      var _ = requester.spend(ticket);
      if (outcome.completed()) {
        completed.incrementAndGet();
        assertFilled(target.memory().asSlice(0, bytes), use);
      }
      target.memory().fill((byte) 0x77);
      hold.revoke();
      var _ = owner.spend(hold);
      source.memory().fill((byte) 0x78);
      assertFilled(target.memory(), (byte) 0x77);
    }
  }

  private static void assertFilled(MemorySegment memory, byte value) {
    byte[] bytes = memory.toArray(ValueLayout.JAVA_BYTE);
    byte[] want = new byte[bytes.length];
    Arrays.fill(want, value);
    if (!Arrays.equals(bytes, want)) {
      throw new AssertionError("the destination changed after its receipt");
    }
  }
}
