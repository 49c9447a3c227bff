package io.orbitkv.manager.transfer;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks one after the other, each in the thread of whoever hands one in while none runs: an
 * order without a thread of its own, and without a hand-over between threads. A task must neither
 * block nor throw. Thread-safe.
 */
final class Strand implements Executor {
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
      next.run();
      next = next();
    }
  }

  private synchronized @Nullable Runnable next() {
    Runnable next = tasks.poll();
    running = next != null;
    return next;
  }
}
