package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import java.util.HashSet;
import java.util.Set;

/**
 * Ends the tickets of one peer that got no byte for as long as they allow, and the lanes that they
 * were stuck on. It looks when the earliest could be due, and sleeps while there is none.
 */
final class ProgressWatch {
  private static final long NONE = Long.MAX_VALUE;

  private final Engine engine;
  private final TcpPeer peer;

  /** When it looks next, by the engine's clock, relative to {@code origin}; guarded by this. */
  private long due = NONE;

  private final long origin;

  ProgressWatch(Engine engine, TcpPeer peer) {
    this.engine = engine;
    this.peer = peer;
    this.origin = engine.clock().getAsLong();
  }

  /** A ticket was submitted that allows so many ns without a byte; 0: any number. */
  void add(long timeoutNanos) {
    if (timeoutNanos > 0) {
      lookIn(timeoutNanos);
    }
  }

  private synchronized void lookIn(long nanos) {
    long at = engine.clock().getAsLong() - origin + nanos;
    if (at < due) {
      due = at;
      engine.after(nanos, this::look);
    }
  }

  private void look() {
    synchronized (this) {
      due = NONE;
    }
    long now = engine.clock().getAsLong();
    Set<TcpTicket> tickets = new HashSet<>();
    long[] next = {NONE};
    long quietest = Long.MAX_VALUE;
    for (Lane lane : peer.lanes()) {
      quietest = Math.min(quietest, now - lane.lastByteNanos());
    }
    // The queue first: a ticket that moves to a lane meanwhile is found there.
    for (TcpTicket ticket : peer.queued()) {
      if (late(ticket, Math.min(quietest, now - ticket.submittedNanos()), next)) {
        tickets.add(ticket);
      }
    }
    for (Lane lane : peer.lanes()) {
      lane.forEachInFlight(
          (where, part) -> {
            if (late(part.ticket(), quietNanos(where, part, now), next)) {
              tickets.add(part.ticket());
            }
          });
    }
    // Before the tickets hear, so that a read that follows an outcome does not join what has
    // failed.
    endStuckLanes(tickets, now);
    for (TcpTicket ticket : tickets) {
      ticket.fail(FaultCode.PEER_LOST, "no byte from " + peer + " in " + allowed(ticket));
    }
    if (next[0] != NONE) {
      lookIn(next[0]);
    }
  }

  /**
   * Ends every lane on which no byte came for a while, idle ones too: they take the same way, and
   * the next read would learn it only after the same time again. Lanes of one ticket are late one
   * after the other: half of the time is enough.
   */
  private void endStuckLanes(Set<TcpTicket> tickets, long now) {
    long allowed = NONE;
    for (TcpTicket ticket : tickets) {
      allowed = Math.min(allowed, ticket.progressTimeoutNanos());
    }
    if (allowed == NONE) {
      return;
    }
    for (Lane lane : peer.lanes()) {
      long[] oldest = {NONE};
      lane.forEachInFlight((_, part) -> oldest[0] = Math.min(oldest[0], part.sentNanos()));
      long silent = now - lane.lastByteNanos();
      long quiet = oldest[0] == NONE ? silent : Math.min(silent, now - oldest[0]);
      if (quiet >= allowed / 2) {
        lane.shutdown("no byte came in " + allowed / 1_000_000 + " ms");
      }
    }
  }

  private static long quietNanos(Lane lane, Part part, long now) {
    return Math.min(now - lane.lastByteNanos(), now - part.sentNanos());
  }

  private static String allowed(TcpTicket ticket) {
    return ticket.progressTimeoutNanos() / 1_000_000 + " ms";
  }

  /** Whether a ticket has waited too long; notes when it will have, if not. */
  private static boolean late(TcpTicket ticket, long quietNanos, long[] next) {
    long allowed = ticket.progressTimeoutNanos();
    if (allowed == 0 || ticket.ended()) {
      return false;
    }
    if (quietNanos >= allowed) {
      return true;
    }
    next[0] = Math.min(next[0], allowed - quietNanos);
    return false;
  }
}
