package io.orbitkv.provider.tcp;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The threads of one engine: it starts them and, at the end, joins them. Thread-safe. */
final class EngineThreads {
  private final Function<String, ThreadFactory> factories;
  private final Map<String, ThreadFactory> byPurpose = new HashMap<>();
  private final List<Thread> made = new ArrayList<>();

  EngineThreads(Function<String, ThreadFactory> factories) {
    this.factories = factories;
  }

  void start(String purpose, Runnable work) {
    create(purpose, work).start();
  }

  /** Makes a thread that the caller starts; it is joined too. */
  synchronized Thread create(String purpose, Runnable work) {
    made.removeIf(thread -> thread.getState() == Thread.State.TERMINATED);
    Thread thread = byPurpose.computeIfAbsent(purpose, factories).newThread(work);
    made.add(thread);
    return thread;
  }

  /**
   * Waits for the end of every thread but the caller's own; their work was told to end before.
   *
   * @return whether they ended within so many ns
   */
  boolean join(long nanos) {
    boolean interrupted = false;
    long begin = System.nanoTime();
    Thread thread = other();
    for (long left = nanos; thread != null && left > 0; thread = other()) {
      try {
        var _ = thread.join(Duration.ofNanos(left));
      } catch (InterruptedException e) {
        interrupted = true;
      }
      left = nanos - (System.nanoTime() - begin);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return thread == null;
  }

  private synchronized @Nullable Thread other() {
    for (Thread thread : made) {
      if (thread.isAlive() && thread != Thread.currentThread()) {
        return thread;
      }
    }
    return null;
  }
}
