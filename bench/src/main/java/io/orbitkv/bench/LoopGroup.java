package io.orbitkv.bench;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Threads that do the same for the same time, and begin together. Used once. */
final class LoopGroup {
  private final List<Loop> loops = new ArrayList<>();
  private final CyclicBarrier meeting;
  private final AtomicReference<@Nullable Throwable> fault = new AtomicReference<>();
  private final long warmUpNanos;
  private final long nanos;

  /** One thread for each work. */
  LoopGroup(List<? extends Work> works, double warmUpSeconds, double seconds) {
    works.forEach(work -> loops.add(new Loop(work)));
    meeting = new CyclicBarrier(works.size() + 1);
    warmUpNanos = (long) (warmUpSeconds * 1e9);
    nanos = (long) (seconds * 1e9);
  }

  /**
   * Warms up, checks every byte of the first operations, and measures.
   *
   * @param name the contender's, for the sample
   * @param owner tells the processor time of the other end
   */
  Sample run(String name, OwnerLink owner) throws InterruptedException {
    loops.forEach(Thread.ofPlatform().daemon().name("bench-loop-", 1)::start);
    meet();
    long ownCpu = ProcessCpu.ownNanos();
    long ownerCpu = owner.cpuNanos();
    meet();
    meet();
    ownerCpu = owner.cpuNanos() - ownerCpu;
    ownCpu = ProcessCpu.ownNanos() - ownCpu;
    return sample(name, ownCpu, ownerCpu);
  }

  private Sample sample(String name, long ownCpu, long ownerCpu) {
    LoopTally all = new LoopTally();
    List<Double> each = new ArrayList<>();
    for (Loop loop : loops) {
      all.add(loop.tally);
      each.add(loop.tally.gbps());
    }
    long cpu = ownCpu + ownerCpu;
    return new Sample(
        name,
        loops.getFirst().work.batch(),
        each.stream().mapToDouble(Double::doubleValue).sum(),
        LoopTally.times(all.whole),
        LoopTally.times(all.prepare),
        LoopTally.times(all.post),
        LoopTally.times(all.transfer),
        LoopTally.times(all.receipt),
        (double) cpu / all.bytes,
        cpu == 0 ? 0 : (double) ownerCpu / cpu,
        all.whole.getTotalCount(),
        all.errors,
        all.failure,
        each,
        "");
  }

  private void meet() throws InterruptedException {
    await();
    Throwable cause = fault.get();
    if (cause instanceof TransportException told) {
      throw told;
    }
    if (cause != null) {
      throw new TransportException(
          FaultCode.INTERNAL, "bench: a measuring thread ended by " + cause, cause);
    }
  }

  private void await() throws InterruptedException {
    try {
      meeting.await();
    } catch (BrokenBarrierException e) {
      throw new InterruptedException("another measuring thread was interrupted");
    }
  }

  private interface Step {
    void run() throws InterruptedException;
  }

  private final class Loop implements Runnable {
    private final Work work;
    private final LoopTally tally = new LoopTally();

    Loop(Work work) {
      this.work = work;
    }

    // A thread that failed still comes to every meeting: the others wait for it there.
    @Override
    public void run() {
      try {
        unlessFailed(this::warmUp);
        await();
        await();
        unlessFailed(() -> repeat(nanos));
        await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void unlessFailed(Step step) throws InterruptedException {
      if (fault.get() == null) {
        try {
          step.run();
        } catch (RuntimeException | Error e) {
          fault.compareAndSet(null, e);
        }
      }
    }

    private void warmUp() throws InterruptedException {
      work.run(tally);
      if (!work.isAllRight()) {
        tally.errors++;
      }
      repeat(warmUpNanos);
      tally.reset();
    }

    private void repeat(long limit) throws InterruptedException {
      long start = System.nanoTime();
      long now;
      do {
        work.run(tally);
        now = System.nanoTime();
      } while (now - start < limit);
      tally.elapsedNanos = now - start;
    }
  }
}
