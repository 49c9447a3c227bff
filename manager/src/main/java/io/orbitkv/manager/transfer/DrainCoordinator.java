package io.orbitkv.manager.transfer;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.ReceiptSubject;
import io.orbitkv.api.TransportException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks providers for receipts, checks and spends them. The one place in which memory that a
 * provider could touch becomes free again.
 *
 * <p>A subject whose proof does not come at once is asked for again, by one thread that sleeps
 * while there is nothing to ask for. After a while it is reported as quarantined; it goes on being
 * asked for, since late evidence is evidence. Thread-safe.
 */
public final class DrainCoordinator implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DrainCoordinator.class);
  private static final long FIRST_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LAST_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Told of what becomes of a subject; must not block. */
  public interface Listener {
    /** The receipt was checked and spent: unpin. Called once, last. */
    void drained(DrainReceipt receipt);

    /** No evidence so far; memory stays held. Called at most once. */
    void quarantined();
  }

  private static final class Waiting {
    private final Supplier<Optional<DrainReceipt>> drain;
    private final Listener listener;
    private final long sinceNanos;
    private final AtomicBoolean complained = new AtomicBoolean();

    // Guarded by this entry.
    private boolean quarantined;
    private boolean done;

    Waiting(Supplier<Optional<DrainReceipt>> drain, Listener listener, long sinceNanos) {
      this.drain = drain;
      this.listener = listener;
      this.sinceNanos = sinceNanos;
    }
  }

  private final ReceiptIssuer issuer;
  private final ReceiptCounters counters;
  private final long quarantineAfterNanos;
  private final Map<ReceiptSubject, Waiting> waiting = new LinkedHashMap<>();
  private final ScheduledExecutorService retries;
  private final LongSupplier clock;
  private final Map<ReceiptSubject, DrainReceipt> early = new LinkedHashMap<>();
  private boolean retryScheduled;
  private List<CompletableFuture<Boolean>> idleWaiters = new ArrayList<>();

  /**
   * A coordinator for one transport.
   *
   * @param issuer of that transport
   * @param quarantineAfterNanos how long a subject may stay without a receipt before it is reported
   */
  public DrainCoordinator(
      ReceiptIssuer issuer, ReceiptCounters counters, long quarantineAfterNanos) {
    this(
        issuer,
        counters,
        quarantineAfterNanos,
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("orbitkv-drain").factory()),
        System::nanoTime);
  }

  /** As above, with a clock and a thread that a simulation drives. */
  DrainCoordinator(
      ReceiptIssuer issuer,
      ReceiptCounters counters,
      long quarantineAfterNanos,
      ScheduledExecutorService retries,
      LongSupplier clock) {
    this.issuer = issuer;
    this.counters = counters;
    this.quarantineAfterNanos = quarantineAfterNanos;
    this.retries = retries;
    this.clock = clock;
  }

  /**
   * Asks for the receipt of a subject, now and until it comes.
   *
   * @param drain asks the provider; does not block
   */
  public void watch(
      ReceiptSubject subject, Supplier<Optional<DrainReceipt>> drain, Listener listener) {
    Waiting entry = new Waiting(drain, listener, clock.getAsLong());
    DrainReceipt handedOver;
    synchronized (waiting) {
      waiting.put(subject, entry);
      handedOver = early.remove(subject);
    }
    boolean settled = handedOver == null ? ask(subject, entry) : settle(subject, entry, handedOver);
    if (!settled) {
      scheduleRetry(FIRST_RETRY_NANOS);
    }
  }

  /**
   * Spends a receipt that the provider handed over by itself, as at the close of its source; kept
   * if its subject is about to be watched and is not yet.
   */
  public void accept(DrainReceipt receipt) {
    Waiting entry;
    synchronized (waiting) {
      entry = waiting.get(receipt.subject());
      if (entry == null) {
        early.put(receipt.subject(), receipt);
      }
    }
    if (entry != null) {
      settle(receipt.subject(), entry, receipt);
    }
  }

  /** Counts and spends a receipt for work that was never handed over. */
  public void neverSubmitted(ReceiptSubject subject) {
    DrainReceipt receipt = issuer.neverSubmitted(subject);
    issuer.spend(receipt, subject);
    counters.countSpent(receipt);
  }

  /** What waits for a receipt now. */
  public List<ReceiptSubject> waitingSubjects() {
    synchronized (waiting) {
      return List.copyOf(waiting.keySet());
    }
  }

  /** Waits until nothing waits for a receipt, at most until the deadline; says whether so. */
  public boolean awaitIdle(long deadlineNanos) throws InterruptedException {
    CompletableFuture<Boolean> idle = new CompletableFuture<>();
    synchronized (waiting) {
      if (waiting.isEmpty()) {
        return true;
      }
      idleWaiters.add(idle);
    }
    try {
      return idle.get(Math.max(0, deadlineNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException e) {
      return false;
    }
  }

  /** Stops asking. What waits stays held for ever. */
  @Override
  public void close() {
    retries.shutdownNow();
  }

  private boolean ask(ReceiptSubject subject, Waiting entry) {
    Optional<DrainReceipt> receipt;
    try {
      receipt = entry.drain.get();
    } catch (RuntimeException e) {
      // Asked again for ever; said once.
      if (entry.complained.compareAndSet(false, true)) {
        LOG.error("drain of {} failed; its memory stays held", subject, e);
      }
      return false;
    }
    return receipt.isPresent() && settle(subject, entry, receipt.get());
  }

  private boolean settle(ReceiptSubject subject, Waiting entry, DrainReceipt receipt) {
    synchronized (entry) {
      try {
        issuer.spend(receipt, subject);
      } catch (TransportException e) {
        counters.countRefused();
        if (entry.complained.compareAndSet(false, true)) {
          LOG.error("receipt refused, {} stays held: {}", subject, e.getMessage());
        }
        return false;
      }
      entry.done = true;
    }
    counters.countSpent(receipt);
    // Not under the lock: an operation goes on from here, and submits its next part.
    try {
      entry.listener.drained(receipt);
    } catch (RuntimeException e) {
      LOG.error("what {} held was not given back in full", subject, e);
    } finally {
      forget(subject);
    }
    return true;
  }

  private void forget(ReceiptSubject subject) {
    List<CompletableFuture<Boolean>> woken = List.of();
    synchronized (waiting) {
      waiting.remove(subject);
      if (waiting.isEmpty()) {
        woken = idleWaiters;
        idleWaiters = new ArrayList<>();
      }
    }
    woken.forEach(idle -> idle.complete(true));
  }

  private void scheduleRetry(long delayNanos) {
    synchronized (waiting) {
      if (retryScheduled || retries.isShutdown()) {
        return;
      }
      retryScheduled = true;
    }
    var _ = retries.schedule(() -> retry(delayNanos), delayNanos, TimeUnit.NANOSECONDS);
  }

  private void retry(long lastDelayNanos) {
    Map<ReceiptSubject, Waiting> now;
    synchronized (waiting) {
      retryScheduled = false;
      now = new LinkedHashMap<>(waiting);
    }
    try {
      now.forEach(
          (subject, entry) -> {
            if (!ask(subject, entry)) {
              reportIfOverdue(subject, entry);
            }
          });
    } finally {
      boolean more;
      synchronized (waiting) {
        more = !waiting.isEmpty();
      }
      if (more) {
        scheduleRetry(Math.min(2 * lastDelayNanos, LAST_RETRY_NANOS));
      }
    }
  }

  private void reportIfOverdue(ReceiptSubject subject, Waiting entry) {
    synchronized (entry) {
      if (entry.done
          || entry.quarantined
          || clock.getAsLong() - entry.sinceNanos < quarantineAfterNanos) {
        return;
      }
      entry.quarantined = true;
      entry.listener.quarantined();
    }
    LOG.warn("no evidence that {} is drained; its memory is in quarantine until there is", subject);
  }
}
