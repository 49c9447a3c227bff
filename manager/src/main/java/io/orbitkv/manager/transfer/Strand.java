package io.orbitkv.manager.transfer;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks one after the other, each in the thread of whoever hands one in while none runs: an
 * order without a thread of its own, and without a hand-over between threads. A task must neither
 * block nor throw; one that does is logged, and the others still run. Thread-safe.
 */
final class Strand implements Executor {
  private static final Logger LOG = LoggerFactory.getLogger(Strand.class);

  // Guarded by this.
  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private boolean running;

  /** Runs it and what comes meanwhile; or leaves it to the thread that runs others now. */
  @Override
  public void execute(Runnable task) {
    synchronized (this) {
      if (running) {
        tasks.add(task);
        return;
      }
      running = true;
    }
    @Nullable Runnable next = task;
    while (next != null) {
      try {
        next.run();
      } catch (RuntimeException | Error e) {
        LOG.error("a step of a fetch failed", e);
      }
      next = next();
    }
  }

  private synchronized @Nullable Runnable next() {
    Runnable next = tasks.poll();
    running = next != null;
    return next;
  }
}
