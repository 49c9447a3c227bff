package io.orbitkv.manager;

import io.orbitkv.manager.memory.Allocation;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import io.orbitkv.manager.memory.Pool;
import io.orbitkv.manager.plan.PlanPins;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The holds behind the pins of one plan, one an allocation. */
final class PlanHolds implements PlanPins {
  private final Map<Long, Hold> holds = new HashMap<>();
  private List<Pinned> blocks = new ArrayList<>();

  private PlanHolds() {}

  /** Holds of a plan's own for some blocks of a lease, whose own holds end. */
  static PlanHolds of(Pool pool, List<Hold> leased, List<Long> generations, String plan) {
    PlanHolds made = new PlanHolds();
    Map<Long, Allocation> byGeneration = new HashMap<>();
    leased.forEach(hold -> byGeneration.put(hold.allocation().generation(), hold.allocation()));
    for (Long generation : generations) {
      Allocation allocation = Objects.requireNonNull(byGeneration.get(generation));
      made.holds.computeIfAbsent(generation, _ -> pool.hold(allocation, HoldKind.PLAN, plan));
      made.blocks.add(
          new Pinned(
              allocation.arena().index(), allocation.offset(), allocation.bytes(), generation));
    }
    leased.forEach(Hold::end);
    return made;
  }

  @Override
  public List<Pinned> blocks() {
    return List.copyOf(blocks);
  }

  @Override
  public void keepFirst(int count) {
    blocks = new ArrayList<>(blocks.subList(0, count));
    Set<Long> kept = new HashSet<>();
    blocks.forEach(block -> kept.add(block.generation()));
    for (Hold hold : List.copyOf(holds.values())) {
      long generation = hold.allocation().generation();
      if (!kept.contains(generation)) {
        holds.remove(generation);
        hold.end();
      }
    }
  }

  @Override
  public void release() {
    holds.values().forEach(Hold::end);
    holds.clear();
    blocks = List.of();
  }

  @Override
  public void quarantine() {
    holds.values().forEach(Hold::quarantine);
  }
}
