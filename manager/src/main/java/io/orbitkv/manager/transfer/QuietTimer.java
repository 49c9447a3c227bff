package io.orbitkv.manager.transfer;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One thread for deadlines of which nearly all are cancelled before they are due, and nearly all
 * are equally far away. A plain executor wakes its thread for every deadline that becomes the next
 * one, which is each one of a Manager that does one thing at a time; here an empty deadline stays
 * in front of the others, so the thread wakes about once in the time that they are away.
 */
public final class QuietTimer extends ScheduledThreadPoolExecutor {
  private final AtomicBoolean anchored = new AtomicBoolean();

  /** A timer whose daemon thread is started by the first deadline, and has this name. */
  public QuietTimer(String threadName) {
    super(1, Thread.ofPlatform().daemon().name(threadName).factory());
    setRemoveOnCancelPolicy(true);
  }

  /**
   * As of the executor.
   *
   * @throws RejectedExecutionException once it was shut down
   */
  @Override
  public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
    if (anchored.compareAndSet(false, true)) {
      var _ = super.schedule(() -> anchored.set(false), delay, unit);
    }
    return super.schedule(task, delay, unit);
  }
}
