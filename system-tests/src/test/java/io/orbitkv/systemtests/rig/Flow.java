package io.orbitkv.systemtests.rig;

import java.net.Socket;
import java.util.function.LongSupplier;

/**
 * One connection through a proxy, as a box that translates addresses knows it: forgotten, for ever
 * and without a word to either end, once it was idle for too long. Thread-safe.
 */
final class Flow {
  private final Socket requester;
  private final LongSupplier idleNanos;
  private long bytes;
  private long lastNanos = System.nanoTime();
  private boolean forgotten;

  /** A flow that is used now; the supplier says how long it may be idle, ns. */
  Flow(Socket requester, LongSupplier idleNanos) {
    this.requester = requester;
    this.idleNanos = idleNanos;
  }

  /** The requester's end at the proxy. */
  Socket requester() {
    return requester;
  }

  /** How many bytes have come from either side. */
  synchronized long bytes() {
    return bytes;
  }

  /** Bytes have come; whether they go on. */
  synchronized boolean pass(int count) {
    bytes += count;
    boolean passes = !forgotten();
    lastNanos = System.nanoTime();
    return passes;
  }

  /** Whether it is forgotten. */
  synchronized boolean forgotten() {
    forgotten |= System.nanoTime() - lastNanos > idleNanos.getAsLong();
    return forgotten;
  }
}
