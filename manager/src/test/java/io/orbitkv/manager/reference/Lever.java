package io.orbitkv.manager.reference;

import java.util.concurrent.atomic.AtomicInteger;

/** Stops copies after their entry into the memory, until it is opened again. */
public final class Lever {
  private boolean shut;
  private final AtomicInteger stopped = new AtomicInteger();

  /** Every copy that begins from now on stops half way. */
  public synchronized void shut() {
    shut = true;
  }

  /** All go on. */
  public synchronized void open() {
    shut = false;
    notifyAll();
  }

  /** How many copies stand still now. */
  public int stopped() {
    return stopped.get();
  }

  synchronized void pass() {
    stopped.incrementAndGet();
    boolean interrupted = false;
    while (shut) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    stopped.decrementAndGet();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
