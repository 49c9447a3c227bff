package io.orbitkv.systemtests.simulation;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TicketId;
import io.orbitkv.manager.memory.Allocation;
import io.orbitkv.manager.memory.AllocationState;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Knows what really moves, and that no byte of it may move in memory that was freed. Told of the
 * physics by the simulated transport and engines; asked after every step.
 */
final class Oracle {
  private final List<Movement> movements = new ArrayList<>();
  private final Map<TicketId, GrantId> grants = new HashMap<>();
  private final Set<Object> excused = new HashSet<>();
  private int answers;
  private int blocksRead;

  /** A movement begins to be possible. */
  void watch(Movement movement) {
    movements.add(movement);
  }

  /** After each step: nothing that can still be touched may be free. */
  void check() {
    for (int i = movements.size() - 1; i >= 0; i--) {
      Movement movement = movements.get(i);
      SimulatedManager owner = movement.owner();
      if (!owner.alive() || !movement.live()) {
        movements.set(i, movements.getLast());
        movements.removeLast();
        continue;
      }
      for (Allocation allocation : movement.touched()) {
        if (owner.pool().state(allocation) == AllocationState.FREED) {
          throw new Violation(
              "memory is free while a byte can still move: "
                  + allocation
                  + " at "
                  + owner
                  + ", "
                  + movement);
        }
      }
    }
  }

  /** The allocations that a holder has holds on; every descriptor must lie in one of them. */
  List<Allocation> heldFor(
      SimulatedManager manager, Object holder, HoldKind kind, Iterable<Descriptor> ranges) {
    List<Allocation> held = new ArrayList<>();
    for (Hold hold : manager.pool().holds()) {
      if (hold.kind() == kind && hold.holder().equals(holder)) {
        held.add(hold.allocation());
      }
    }
    for (Descriptor range : ranges) {
      if (held.stream().noneMatch(allocation -> covers(allocation, range))) {
        throw new Violation(holder + " touches " + range + ", which it does not hold");
      }
    }
    return held;
  }

  private static boolean covers(Allocation allocation, Descriptor range) {
    return range.offset() >= allocation.offset()
        && range.offset() + range.length() <= allocation.offset() + allocation.bytes();
  }

  /** A block is given to an engine as the one of that name. */
  void checkContent(SimulatedManager at, BlockName name, Allocation block, long from, long to) {
    if (!Blocks.right(name, block.memory(), from, to)) {
      throw new Violation("wrong bytes with success: block " + name + " in " + block + " of " + at);
    }
  }

  /** An owner has answered a request with a grant. */
  void granted(SimulatedManager owner, TicketId ticket, GrantId grant) {
    GrantId before = grants.putIfAbsent(ticket, grant);
    if (before != null && before.epoch().equals(grant.epoch()) && !before.equals(grant)) {
      throw new Violation("ticket " + ticket.id() + " got two grants of " + owner);
    }
  }

  /** A READ is let in under a grant: it must be the one that it names. */
  void entered(ReadFrame frame, GrantId grant) {
    if (!frame.grant().equals(grant)) {
      throw new Violation(frame + " was let in under another grant, " + grant.id());
    }
  }

  /** A request takes an answer: it must be about its own ticket. */
  void answered(TicketId asked, TicketId answered) {
    if (!asked.equals(answered)) {
      throw new Violation(
          "the request for ticket " + asked.id() + " took the answer for " + answered.id());
    }
  }

  /** A provider broke its contract in a way that proves nothing: quarantine for ever. */
  void excuse(Object holder) {
    excused.add(holder);
  }

  /** Whether a hold of this holder may stay in quarantine for ever. */
  boolean isExcused(Object holder) {
    return excused.contains(holder);
  }

  void answered(int blocks) {
    answers++;
    blocksRead += blocks;
  }

  /** Reads that were answered. */
  int answers() {
    return answers;
  }

  /** Blocks that engines were given. */
  int blocksRead() {
    return blocksRead;
  }
}
