package io.orbitkv.manager.transfer;

import io.orbitkv.api.Batch;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
import io.orbitkv.manager.memory.Hold;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Every ticket of this Manager that is not drained. Submits batches, and takes each ticket through
 * outcome and receipt. Thread-safe.
 */
public final class Tickets {
  private record Live(TrackedTicket tracked, Ticket ticket) {}

  private final Epoch managerEpoch;
  private final ReceiptIssuer issuer;
  private final DrainCoordinator coordinator;
  private final Peer.TicketOptions options;
  private final AtomicLong lastId = new AtomicLong();
  private final LongAdder submitted = new LongAdder();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Map<TicketId, Live> live = new ConcurrentHashMap<>();
  private final Object drained = new Object();
  private final Map<String, LongAdder> outcomes = new ConcurrentHashMap<>();

  /** A table for one transport of the Manager with this epoch. */
  public Tickets(
      Epoch managerEpoch,
      ReceiptIssuer issuer,
      DrainCoordinator coordinator,
      Peer.TicketOptions options) {
    this.managerEpoch = managerEpoch;
    this.issuer = issuer;
    this.coordinator = coordinator;
    this.options = options;
  }

  /** A name for a ticket; never used again. */
  TicketId nextId() {
    return new TicketId(lastId.incrementAndGet(), managerEpoch);
  }

  /**
   * Submits a batch.
   *
   * @param destination the holds on what it will write; they end with the ticket's receipt, also if
   *     this throws a TransportException: nothing was submitted then, NEVER_SUBMITTED
   * @throws TransportException and nothing was submitted. Anything else that a provider throws
   *     proves nothing: the destination goes to quarantine
   */
  TrackedTicket submit(
      Peer peer,
      Batch batch,
      TicketId id,
      List<Hold> destination,
      TrackedTicket.Listener listener) {
    if (closed.get()) {
      destination.forEach(Hold::end);
      throw new TransportException(FaultCode.CLOSING, "this Manager is shutting down");
    }
    issuer.open(id);
    TrackedTicket tracked = new TrackedTicket(id, destination, listener);
    Ticket ticket;
    try {
      ticket = peer.read(batch, id, options);
    } catch (TransportException e) {
      coordinator.neverSubmitted(id);
      destination.forEach(Hold::end);
      throw e;
    } catch (RuntimeException | Error e) {
      destination.forEach(Hold::quarantine);
      throw e;
    }
    submitted.increment();
    live.put(id, new Live(tracked, ticket));
    ticket.onSettled(outcome -> settled(tracked, ticket, outcome));
    if (closed.get()) {
      ticket.cancel();
    }
    return tracked;
  }

  /** Asks for the early end of a ticket; nothing if it has ended. */
  void cancel(TicketId id) {
    Live entry = live.get(id);
    if (entry != null) {
      entry.ticket.cancel();
    }
  }

  /** Accepts no more submissions, and asks for the end of all that live. */
  public void close() {
    closed.set(true);
    live.values().forEach(entry -> entry.ticket.cancel());
  }

  /** Waits until all are drained, at most until the deadline; says whether so. */
  public boolean awaitDrained(long deadlineNanos) throws InterruptedException {
    synchronized (drained) {
      while (!live.isEmpty()) {
        long left = deadlineNanos - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        TimeUnit.NANOSECONDS.timedWait(drained, left);
      }
    }
    return true;
  }

  /** How many are not drained. */
  public int undrained() {
    return live.size();
  }

  /** How many there were so far. */
  public long submitted() {
    return submitted.sum();
  }

  /** How many had this outcome, by its simple name. */
  public Map<String, LongAdder> outcomes() {
    return Map.copyOf(outcomes);
  }

  private void settled(TrackedTicket tracked, Ticket ticket, Outcome outcome) {
    outcomes.computeIfAbsent(outcome.getClass().getSimpleName(), _ -> new LongAdder()).increment();
    try {
      tracked.settled(outcome);
    } finally {
      coordinator.watch(tracked.id(), ticket::drain, new DestinationDrain(tracked));
    }
  }

  private final class DestinationDrain implements DrainCoordinator.Listener {
    private final TrackedTicket tracked;

    DestinationDrain(TrackedTicket tracked) {
      this.tracked = tracked;
    }

    @Override
    public void drained(DrainReceipt receipt) {
      try {
        tracked.drained(receipt);
      } finally {
        live.remove(tracked.id());
        if (live.isEmpty()) {
          synchronized (drained) {
            drained.notifyAll();
          }
        }
      }
    }

    @Override
    public void quarantined() {
      tracked.quarantined();
    }
  }
}
