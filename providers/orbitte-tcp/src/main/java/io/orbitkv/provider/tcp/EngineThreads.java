package io.orbitkv.provider.tcp;

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
  private final List<Thread> started = new ArrayList<>();

  EngineThreads(Function<String, ThreadFactory> factories) {
    this.factories = factories;
  }

  synchronized void start(String purpose, Runnable work) {
    started.removeIf(thread -> !thread.isAlive());
    Thread thread = byPurpose.computeIfAbsent(purpose, factories).newThread(work);
    thread.start();
    started.add(thread);
  }

  /** Waits for the end of every thread but the caller's own; their work was told to end before. */
  void join() {
    boolean interrupted = false;
    for (Thread thread = other(); thread != null; thread = other()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized @Nullable Thread other() {
    started.removeIf(thread -> !thread.isAlive());
    for (Thread thread : started) {
      if (thread != Thread.currentThread()) {
        return thread;
      }
    }
    return null;
  }
}
