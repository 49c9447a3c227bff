package io.orbitkv.systemtests.simulation;

import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** The timer thread of one Manager: what is due becomes an event of the world. */
final class SimulatedTimers extends AbstractExecutorService implements ScheduledExecutorService {
  private final World world;
  private final SimulatedManager manager;
  private final String name;
  private boolean shutdown;

  SimulatedTimers(World world, SimulatedManager manager, String name) {
    this.world = world;
    this.manager = manager;
    this.name = name;
  }

  private final class Timer<V> extends FutureTask<V> implements ScheduledFuture<V> {
    private final long dueNanos;

    Timer(Callable<V> task, long dueNanos) {
      super(task);
      this.dueNanos = dueNanos;
    }

    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(dueNanos - world.now(), TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
    }

    @Override
    protected void setException(Throwable cause) {
      super.setException(cause);
      throw cause instanceof Violation violation
          ? violation
          : new Violation("a timer of " + manager + " threw " + cause, cause);
    }
  }

  @Override
  public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
    if (shutdown) {
      throw new RejectedExecutionException(name + " of " + manager + " is shut down");
    }
    long nanos = unit.toNanos(delay);
    Timer<V> timer = new Timer<>(task, world.now() + nanos);
    world.after(nanos, () -> !timer.isDone(), Pending.at(manager, name, () -> run(timer)));
    return timer;
  }

  private void run(Timer<?> timer) {
    if (!shutdown) {
      timer.run();
    }
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
    return schedule(Executors.callable(task), delay, unit);
  }

  @Override
  public ScheduledFuture<?> scheduleAtFixedRate(
      Runnable task, long initialDelay, long period, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ScheduledFuture<?> scheduleWithFixedDelay(
      Runnable task, long initialDelay, long delay, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void execute(Runnable task) {
    var _ = schedule(task, 0, TimeUnit.NANOSECONDS);
  }

  @Override
  public void shutdown() {
    shutdown = true;
  }

  @Override
  public List<Runnable> shutdownNow() {
    shutdown = true;
    return List.of();
  }

  @Override
  public boolean isShutdown() {
    return shutdown;
  }

  @Override
  public boolean isTerminated() {
    return shutdown;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return shutdown;
  }
}
