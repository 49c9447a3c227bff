package io.orbitkv.manager.local;

/** Waits for the end of threads, an interrupt kept for the caller. */
final class Joining {
  private Joining() {}

  static void join(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException _) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
