package io.orbitkv.tck.reference;

import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * The link between reference transports: it can stand still, break, and lead elsewhere. {@link
 * #shut()} holds a copy inside the memory whatever happens; {@link #stallAfter} is a link without
 * bytes, from which a cancel, a timeout or a cut frees it. Thread-safe.
 */
public final class Lever {
  /** Why a copy may not go on. */
  enum Pass {
    /** It may. */
    GO,
    /** The link was cut. */
    CUT,
    /** The ticket is to end. */
    ENDED,
    /** No byte for as long as the ticket allows. */
    TIMEOUT
  }

  private static final long LOOK_MILLIS = 2;

  private final Map<URI, URI> redirected = new HashMap<>();
  private final AtomicInteger stopped = new AtomicInteger();
  private boolean shut;
  private long allowance = Long.MAX_VALUE;
  private long cuts;

  /** Every copy that begins from now on stops before its next byte. */
  public synchronized void shut() {
    shut = true;
  }

  /** All go on. */
  public synchronized void open() {
    shut = false;
    allowance = Long.MAX_VALUE;
    notifyAll();
  }

  /** So many more bytes are carried, then none. */
  public synchronized void stallAfter(long bytes) {
    allowance = bytes;
  }

  /** Ends every copy that has begun. */
  public synchronized void cut() {
    cuts++;
    notifyAll();
  }

  /** Whoever connects to one endpoint reaches another from now on. */
  public synchronized void redirect(URI from, URI to) {
    redirected.put(from, to);
  }

  /** How many copies stand still now. */
  public int stopped() {
    return stopped.get();
  }

  synchronized URI resolve(URI endpoint) {
    return redirected.getOrDefault(endpoint, endpoint);
  }

  /** To be given to {@link #pass} by a copy that begins now. */
  synchronized long cuts() {
    return cuts;
  }

  /** Something that a waiting copy looks at has changed. */
  synchronized void wake() {
    notifyAll();
  }

  /**
   * Waits until so many bytes may be carried.
   *
   * @param begun the number of cuts when the copy began
   * @param ended whether the ticket is to end
   * @param timeoutNanos how long to wait at most; 0: for ever
   */
  synchronized Pass pass(long bytes, long begun, BooleanSupplier ended, long timeoutNanos) {
    long deadline = System.nanoTime() + timeoutNanos;
    boolean interrupted = false;
    Pass pass = Pass.GO;
    stopped.incrementAndGet();
    while (shut || (pass == Pass.GO && allowance < bytes)) {
      pass = reason(begun, ended, timeoutNanos > 0 && System.nanoTime() >= deadline);
      if (!shut && pass != Pass.GO) {
        break;
      }
      try {
        wait(timeoutNanos > 0 && !shut ? LOOK_MILLIS : 0);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    stopped.decrementAndGet();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (pass == Pass.GO) {
      pass = reason(begun, ended, false);
    }
    if (pass == Pass.GO && allowance != Long.MAX_VALUE) {
      allowance -= bytes;
    }
    return pass;
  }

  private Pass reason(long begun, BooleanSupplier ended, boolean late) {
    if (cuts != begun) {
      return Pass.CUT;
    }
    if (ended.getAsBoolean()) {
      return Pass.ENDED;
    }
    return late ? Pass.TIMEOUT : Pass.GO;
  }
}
