package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

/** What a transfer that has run for a while costs: heap for each block, and time when idle. */
final class SteadyStateTest {
  private static final int PITCH = 128;
  private static final int BYTES = 64;
  private static final int MANY = 16_384;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void allocatesNothingForABlockAtEitherEnd() {
    try (Host owner = Host.open();
        Host requester = Host.open()) {
      Reads reads = new Reads(owner, requester);
      Batch few = reads.scattered(16);
      Batch many = reads.scattered(1_000);
      // Until the compiler has removed the short-lived views of memory, 40 bytes and more a block.
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
      double perBlock = Double.MAX_VALUE;
      while (perBlock > 1 && System.nanoTime() < deadline) {
        perBlock = (reads.allocated(many, 200) - reads.allocated(few, 200)) / (1_000.0 - 16);
      }
      // Guard: Destination without an array of the batch's length; one costs 4 bytes a block.
      assertThat(perBlock).isLessThanOrEqualTo(1);
    }
  }

  @Test
  void aReadOfTheMostDescriptorsStaysWithinTheirBudget() {
    try (Host owner = Host.open();
        Host requester = Host.open()) {
      Reads reads = new Reads(owner, requester);
      Batch most = reads.scattered(MANY);
      // Guard: the bytes taken in TcpTransport.open; 16 such tickets fit the 32 MiB of a Manager.
      reads.read(most);
      assertThat(requester.context.mostBytes.get()).isBetween(1L, 2L << 20);
      long before = threads.getCurrentThreadAllocatedBytes();
      Ticket ticket = requester.read(reads.peer, most);
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
      // What it occupies on the heap is less than what it was charged.
      assertThat(threads.getCurrentThreadAllocatedBytes() - before)
          .isLessThan(requester.context.mostBytes.get());
      requester.spend(ticket);
    }
  }

  @Test
  void nothingRunsWhenNothingIsOutstanding() throws InterruptedException {
    try (Host owner = Host.open();
        Host requester = Host.open()) {
      Reads reads = new Reads(owner, requester);
      for (int i = 0; i < 1_000; i++) {
        reads.read(reads.scattered(1));
      }
      // Guard: the end of polling in Polling.again, and of LaneReceiver.look when nothing is in
      // flight.
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      long used = Long.MAX_VALUE;
      while (used > 0 && System.nanoTime() < deadline) {
        long before = sum(threads::getThreadCpuTime);
        // The idle second is what is measured.
        Thread.sleep(1_000);
        used = sum(threads::getThreadCpuTime) - before;
      }
      assertThat(used).isZero();
    }
  }

  /** Over the threads of both transports. */
  private long sum(LongUnaryOperator of) {
    long[] ids = threads.getAllThreadIds();
    var infos = threads.getThreadInfo(ids);
    return Arrays.stream(infos)
        .filter(info -> info != null && info.getThreadName().startsWith("tcp-"))
        .mapToLong(info -> Math.max(0, of.applyAsLong(info.getThreadId())))
        .sum();
  }

  /** One region at each end, read in pieces that touch nowhere. */
  private final class Reads {
    private final Host requester;
    private final Region target;
    private final RemoteRegion remote;
    private final Peer peer;

    Reads(Host owner, Host requester) {
      this.requester = requester;
      Region source = owner.filled((long) MANY * PITCH, 3);
      target = requester.registered((long) MANY * PITCH);
      peer = requester.connect(owner);
      remote = peer.importRegion(owner.admitWhole(requester, source).wireForm());
    }

    Batch scattered(int blocks) {
      Batch.Builder batch = Batch.from(remote);
      for (int i = 0; i < blocks; i++) {
        long from = i * 7_919L % MANY * PITCH;
        long to = i * 104_729L % MANY * PITCH;
        batch.add(Descriptor.of(target.id(), to, BYTES), RemoteDescriptor.of(0, from, BYTES));
      }
      return batch.build();
    }

    void read(Batch batch) {
      Ticket ticket = requester.read(peer, batch);
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
      requester.spend(ticket);
    }

    /** Bytes that one read allocates at both ends. */
    double allocated(Batch batch, int times) {
      long before = allocatedSoFar();
      for (int i = 0; i < times; i++) {
        read(batch);
      }
      return (allocatedSoFar() - before) / (double) times;
    }

    private long allocatedSoFar() {
      return sum(threads::getThreadAllocatedBytes) + threads.getCurrentThreadAllocatedBytes();
    }
  }
}
