package io.orbitkv.manager.grant;

import io.orbitkv.api.TicketId;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;

/**
 * The tickets whose grants ended last, so that a request that was repeated or delayed does not get
 * a second grant. Guarded by the {@link GrantAuthority}.
 */
final class EndedTickets {
  private static final int REMEMBERED = 8192;

  private final ArrayDeque<TicketId> order = new ArrayDeque<>();
  private final Set<TicketId> tickets = new HashSet<>();

  void add(TicketId ticket) {
    if (tickets.add(ticket)) {
      order.addLast(ticket);
      if (order.size() > REMEMBERED) {
        tickets.remove(order.removeFirst());
      }
    }
  }

  boolean contains(TicketId ticket) {
    return tickets.contains(ticket);
  }
}
