package io.orbitkv.systemtests.rig;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What may pass, in bytes of one side over all connections of a proxy, counted from the last order.
 * Open at first. Thread-safe.
 */
public final class Valve {
  private static final long STEPS_PER_SECOND = 100;

  private final Runnable cut;
  private Runnable action;
  private long allowance = Long.MAX_VALUE;
  private long bytesPerSecond = Long.MAX_VALUE;
  private long actAt = Long.MAX_VALUE;
  private long flipAt = Long.MAX_VALUE;
  private long swallowAt = Long.MAX_VALUE;
  private long swallowEnd = Long.MAX_VALUE;
  private long nextNanos;
  private long passed;
  private long total;

  Valve(Runnable cut) {
    this.cut = cut;
    this.action = cut;
  }

  /** Lets everything pass, also what waits. */
  public synchronized void open() {
    reset();
  }

  /** Lets so many more bytes pass; what comes behind them waits. */
  public synchronized void holdAfter(long bytes) {
    reset();
    allowance = bytes;
  }

  /** Lets everything pass at that rate. */
  public synchronized void slowTo(long newBytesPerSecond) {
    reset();
    bytesPerSecond = newBytesPerSecond;
  }

  /** Closes all connections once so many more bytes have passed; once. */
  public synchronized void cutAfter(long bytes) {
    runAfter(bytes, cut);
  }

  /** Does something once so many more bytes have passed, before the next one; once. */
  public synchronized void runAfter(long bytes, Runnable newAction) {
    reset();
    actAt = bytes;
    action = newAction;
  }

  /** Inverts one bit of the byte behind so many more bytes; once. */
  public synchronized void flipAfter(long bytes) {
    reset();
    flipAt = bytes;
  }

  /** Takes so many bytes out of the stream, behind so many more that pass; once. */
  public synchronized void swallowAfter(long bytes, long count) {
    reset();
    swallowAt = bytes;
    swallowEnd = bytes + count;
  }

  /** Bytes that have passed in all. */
  public synchronized long total() {
    return total;
  }

  /** Waits until so many bytes have passed in all, at most that long; whether they have. */
  public synchronized boolean awaitTotal(long bytes, Duration most) throws InterruptedException {
    long end = System.nanoTime() + most.toNanos();
    while (total < bytes) {
      long left = end - System.nanoTime();
      if (left <= 0) {
        return false;
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    return true;
  }

  synchronized void wake() {
    notifyAll();
  }

  private void reset() {
    allowance = Long.MAX_VALUE;
    bytesPerSecond = Long.MAX_VALUE;
    nextNanos = System.nanoTime();
    actAt = Long.MAX_VALUE;
    flipAt = Long.MAX_VALUE;
    swallowAt = Long.MAX_VALUE;
    swallowEnd = Long.MAX_VALUE;
    passed = 0;
    notifyAll();
  }

  /**
   * Writes the bytes as far as and as soon as they may pass; returns early if the source closed.
   */
  void pass(byte[] bytes, int count, OutputStream out, Socket source)
      throws IOException, InterruptedException {
    int at = 0;
    while (at < count && !source.isClosed()) {
      int next = claim(bytes, at, count - at, source);
      if (next > 0) {
        out.write(bytes, at, next);
      }
      at += Math.abs(next);
      Runnable due = due();
      if (due != null) {
        due.run();
      }
    }
  }

  /** How many bytes pass now; negative: so many are taken out. */
  private synchronized int claim(byte[] bytes, int at, int count, Socket source)
      throws InterruptedException {
    long wait = waitNanos();
    while (wait > 0 && !source.isClosed()) {
      TimeUnit.NANOSECONDS.timedWait(this, wait);
      wait = waitNanos();
    }
    long most = Math.min(count, Math.min(allowance - passed, actAt - passed));
    if (bytesPerSecond < Long.MAX_VALUE) {
      most = Math.min(most, Math.max(1, bytesPerSecond / STEPS_PER_SECOND));
      nextNanos = System.nanoTime() + most * TimeUnit.SECONDS.toNanos(1) / bytesPerSecond;
    }
    boolean swallowed = passed >= swallowAt && passed < swallowEnd;
    if (passed < swallowEnd) {
      most = Math.min(most, (swallowed ? swallowEnd : swallowAt) - passed);
    }
    int claimed = (int) Math.max(0, most);
    if (flipAt >= passed && flipAt < passed + claimed) {
      bytes[at + (int) (flipAt - passed)] ^= 0x10;
    }
    passed += claimed;
    total += claimed;
    notifyAll();
    return swallowed ? -claimed : claimed;
  }

  private long waitNanos() {
    if (passed >= allowance) {
      return TimeUnit.SECONDS.toNanos(1);
    }
    return bytesPerSecond == Long.MAX_VALUE ? 0 : nextNanos - System.nanoTime();
  }

  private synchronized @Nullable Runnable due() {
    if (passed < actAt) {
      return null;
    }
    actAt = Long.MAX_VALUE;
    return action;
  }
}
