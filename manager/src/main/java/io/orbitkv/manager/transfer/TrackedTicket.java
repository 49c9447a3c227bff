package io.orbitkv.manager.transfer;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TicketState;
import io.orbitkv.manager.memory.Hold;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Manager's record of one ticket: its state, and the destination that it holds until its
 * receipt is spent. Its states are written by {@link Tickets} alone.
 */
final class TrackedTicket {
  /** Told of the two events of a ticket; must not block. */
  interface Listener {
    void settled(TrackedTicket ticket, Outcome outcome);

    void drained(TrackedTicket ticket, DrainReceipt receipt);
  }

  private final TicketId id;
  private final List<Hold> destination;
  private final Listener listener;
  private final long postedNanos = System.nanoTime();
  private TicketState state = TicketState.POSTED;
  private @Nullable Outcome outcome;

  TrackedTicket(TicketId id, List<Hold> destination, Listener listener) {
    this.id = id;
    this.destination = List.copyOf(destination);
    this.listener = listener;
  }

  TicketId id() {
    return id;
  }

  long postedNanos() {
    return postedNanos;
  }

  synchronized TicketState state() {
    return state;
  }

  synchronized @Nullable Outcome outcome() {
    return outcome;
  }

  void settled(Outcome result) {
    synchronized (this) {
      become(TicketState.SETTLED);
      outcome = result;
    }
    listener.settled(this, result);
  }

  void quarantined() {
    synchronized (this) {
      become(TicketState.QUARANTINED);
    }
    destination.forEach(Hold::quarantine);
  }

  void drained(DrainReceipt receipt) {
    synchronized (this) {
      become(TicketState.DRAINED);
    }
    destination.forEach(Hold::end);
    listener.drained(this, receipt);
  }

  private void become(TicketState next) {
    if (!state.canBecome(next)) {
      throw new IllegalStateException(id + " can not go from " + state + " to " + next);
    }
    state = next;
  }
}
