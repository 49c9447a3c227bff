package io.orbitkv.adapter;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The thread that completes futures, begun with the first one. While one is open and nobody takes
 * answers out, it does; otherwise it blocks without a timer. Thread-safe.
 */
final class Teller {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<RingCall> ended = new ArrayDeque<>();
  private final AtomicInteger open = new AtomicInteger();
  private final BooleanSupplier nobodyDrives;
  private final Consumer<BooleanSupplier> drive;
  private final Thread thread;
  private boolean started;
  private boolean closed;

  /**
   * Not begun.
   *
   * @param nobodyDrives whether nobody takes answers out or is about to; {@link #look()} is called
   *     when that becomes true
   * @param drive takes answers out until told to stop, unless somebody else does
   */
  Teller(String name, BooleanSupplier nobodyDrives, Consumer<BooleanSupplier> drive) {
    this.nobodyDrives = nobodyDrives;
    this.drive = drive;
    this.thread =
        Thread.ofPlatform().daemon().name("orbitkv-client-futures " + name).unstarted(this::tell);
  }

  boolean isCurrentThread() {
    return Thread.currentThread() == thread;
  }

  /** One more future is open. */
  void opened() {
    lock.lock();
    try {
      open.incrementAndGet();
      if (!started && !closed) {
        started = true;
        thread.start();
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** That one is not: its command was never submitted. */
  void withdrawn() {
    open.decrementAndGet();
  }

  /** That one is to be completed. */
  void ended(RingCall call) {
    lock.lock();
    try {
      ended.add(call);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Nobody takes answers out any more. */
  void look() {
    if (open.get() > 0) {
      lock.lock();
      try {
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Ends the thread once it has completed what ended, and waits for it, unless this is it. */
  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    boolean interrupted = false;
    while (!isCurrentThread() && thread.isAlive()) {
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

  private void tell() {
    while (true) {
      List<RingCall> told;
      lock.lock();
      try {
        while (ended.isEmpty() && !closed && (open.get() == 0 || !nobodyDrives.getAsBoolean())) {
          changed.awaitUninterruptibly();
        }
        if (ended.isEmpty() && closed) {
          return;
        }
        told = new ArrayList<>(ended);
        ended.clear();
        open.addAndGet(-told.size());
      } finally {
        lock.unlock();
      }
      if (told.isEmpty()) {
        drive.accept(() -> hasEnded() || open.get() == 0);
      } else {
        told.forEach(RingCall::tell);
      }
    }
  }

  private boolean hasEnded() {
    lock.lock();
    try {
      return !ended.isEmpty();
    } finally {
      lock.unlock();
    }
  }
}
