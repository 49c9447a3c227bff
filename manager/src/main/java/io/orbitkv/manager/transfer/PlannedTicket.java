package io.orbitkv.manager.transfer;

import io.orbitkv.api.Batch;
import io.orbitkv.api.TicketId;
import io.orbitkv.manager.memory.Allocation;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import io.orbitkv.manager.memory.Pool;
import java.util.List;
import java.util.Set;

/**
 * A batch that is ready to be submitted.
 *
 * @param batch what to read
 * @param destination the allocations that it writes
 */
record PlannedTicket(Batch batch, Set<Allocation> destination) {
  /** Pins the destination for a ticket. */
  List<Hold> hold(Pool pool, TicketId id) {
    return destination.stream()
        .map(allocation -> pool.hold(allocation, HoldKind.DESTINATION, id))
        .toList();
  }
}
