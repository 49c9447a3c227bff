package io.orbitkv.adapter;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Whose turn it is to take answers out: one thread's at a time; when it goes, the next one of those
 * that parked is woken. Thread-safe.
 */
final class Turn {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition free = lock.newCondition();
  private final Set<Thread> parked = new LinkedHashSet<>();
  private final Runnable whenFree;
  private boolean taken;
  private boolean closed;

  /**
   * Free.
   *
   * @param whenFree runs when it is nobody's turn and nobody has parked; cheap
   */
  Turn(Runnable whenFree) {
    this.whenFree = whenFree;
  }

  /** Takes the turn if it is free; false for ever once closed. */
  boolean tryBegin() {
    lock.lock();
    try {
      if (taken || closed) {
        return false;
      }
      taken = true;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** As {@link #tryBegin()}; if not, the caller parks, and is woken when it may try again. */
  boolean beginOrPark() {
    lock.lock();
    try {
      boolean begun = tryBegin();
      boolean _ =
          begun ? parked.remove(Thread.currentThread()) : parked.add(Thread.currentThread());
      return begun;
    } finally {
      lock.unlock();
    }
  }

  /** Runs with the turn that was taken, and gives it back. */
  void during(Runnable work) {
    try {
      work.run();
    } finally {
      lock.lock();
      try {
        taken = false;
        free.signalAll();
      } finally {
        lock.unlock();
      }
      handOn();
    }
  }

  /** The caller has what it parked for. */
  void leave() {
    lock.lock();
    try {
      boolean _ = parked.remove(Thread.currentThread());
    } finally {
      lock.unlock();
    }
    // It may have been the one that was woken to go on.
    handOn();
  }

  /** Whether nobody has the turn or is about to take it. */
  boolean isFree() {
    lock.lock();
    try {
      return !taken && !closed && parked.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Wakes all that parked, to look for themselves. */
  void wakeAll() {
    lock.lock();
    try {
      parked.forEach(LockSupport::unpark);
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the turn is free, and gives it to nobody any more. */
  void close() {
    lock.lock();
    try {
      while (taken) {
        free.awaitUninterruptibly();
      }
      closed = true;
    } finally {
      lock.unlock();
    }
  }

  private void handOn() {
    boolean nobody;
    lock.lock();
    try {
      nobody = !taken && parked.isEmpty();
      if (!taken && !nobody) {
        LockSupport.unpark(parked.iterator().next());
      }
    } finally {
      lock.unlock();
    }
    if (nobody) {
      whenFree.run();
    }
  }
}
