package io.orbitkv.provider.tcp;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.ProviderContext;
import io.orbitkv.ffm.TcpStream;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What both halves of one transport share.
 *
 * @param receipts mints this incarnation's receipts
 * @param budget bounds the tickets
 * @param settings the options
 * @param meters what it counts
 * @param threads its threads
 * @param timer starts what is due after a grace; its thread sleeps while nothing is
 * @param clock to measure with, ns
 * @param graceNanos from the retirement of a right to the end of a connection that still serves it
 * @param regions what is registered
 * @param references bounds what is sent by reference
 * @param requestIds the last request id: none is used twice within an epoch
 */
record Engine(
    ReceiptIssuer receipts,
    AdmissionBudget budget,
    TcpSettings settings,
    TcpMeters meters,
    EngineThreads threads,
    ScheduledThreadPoolExecutor timer,
    LongSupplier clock,
    long graceNanos,
    RegionTable regions,
    ReferenceBudget references,
    AtomicLong requestIds) {
  private static final Logger log = LoggerFactory.getLogger(Engine.class);

  /** How long a connection may take to be made, and then its preface to come. */
  static final int CONNECT_MILLIS = 3_000;

  static final long CONNECT_NANOS = CONNECT_MILLIS * 1_000_000L;

  /** From a quiet connection's first keep-alive probe, to its end when nobody answers, seconds. */
  private static final int KEEP_ALIVE_IDLE_S = 30;

  private static final int KEEP_ALIVE_INTERVAL_S = 5;
  private static final int KEEP_ALIVE_PROBES = 6;

  static Engine of(ProviderContext context, TcpSettings settings) {
    EngineThreads threads = new EngineThreads(context::threads);
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(1, work -> threads.create("timer", work));
    timer.setRemoveOnCancelPolicy(true);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    TcpMeters meters = TcpMeters.of(context.meters());
    return new Engine(
        context.receipts(),
        context.budget(),
        settings,
        meters,
        threads,
        timer,
        context.clock(),
        context.retirementGraceNanos(),
        new RegionTable(),
        new ReferenceBudget(settings.sendfileBytes(), meters.pinnedBytes()),
        new AtomicLong());
  }

  /** The identity of this incarnation. */
  Epoch epoch() {
    return receipts.epoch();
  }

  /**
   * Runs work in the timer's thread; it must not block, and does not run once the engine closes.
   */
  void after(long nanos, Runnable work) {
    try {
      var _ = timer.schedule(() -> runSafely(work), Math.max(0, nanos), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // The engine is closed: everything that work could be about has ended.
    }
  }

  /** The executor would keep to itself what is thrown. */
  private static void runSafely(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException e) {
      log.error("orbitte-tcp fails in its timer", e);
    } catch (Error e) {
      Thread current = Thread.currentThread();
      current.getUncaughtExceptionHandler().uncaughtException(current, e);
    }
  }

  /** Sets what every connection of either half has; returns its congestion control. */
  Congestion configure(TcpStream stream) {
    stream
        .options()
        .noDelay(true)
        .keepAlive(KEEP_ALIVE_IDLE_S, KEEP_ALIVE_INTERVAL_S, KEEP_ALIVE_PROBES);
    return Congestion.apply(stream, settings.congestion());
  }

  /**
   * Ends the timer and joins every thread; the work of all of them was told to end before.
   *
   * @param cut ends those that still wait for a peer; after the time that a connection may take
   */
  void join(Runnable cut) {
    timer.shutdownNow();
    boolean interrupted = false;
    while (!timer.isTerminated()) {
      try {
        var _ = timer.awaitTermination(1, TimeUnit.DAYS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (!threads.join(CONNECT_NANOS)) {
      cut.run();
      var _ = threads.join(Long.MAX_VALUE);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
