package io.orbitkv.systemtests.simulation;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.manager.transfer.SteppedFetch;
import java.util.List;

/** One read of an engine, from its question to its one answer. */
final class Read {
  private static final int WRONG_OWNER_ODDS = 6;

  private final World world;
  private final SimulatedEngine engine;
  private final SteppedFetch fetch;
  private int answers;

  Read(World world, SimulatedEngine engine, List<BlockName> names, boolean prefix) {
    this.world = world;
    this.engine = engine;
    SimulatedManager manager = engine.manager();
    this.fetch =
        new SteppedFetch(
            manager.transfers(),
            names,
            prefix,
            "engine " + engine.holder(),
            (what, step) -> world.post(Pending.at(manager, what, step)),
            () -> finish("all has come"));
  }

  void begin() {
    SimulatedManager manager = engine.manager();
    manager.leases().begin(engine.holder());
    world.after(
        world.chance().between(Limits.MILLISECOND, Limits.READ_DEADLINE),
        () -> answers == 0,
        Pending.at(manager, "the deadline of a read", this::deadline));
    fetch.begin(Blocks::bytes, this::owner);
  }

  /** Most often somebody who has it; an index names candidates, never truth. */
  private int owner(BlockName name, List<String> addresses) {
    Chance chance = world.chance();
    if (!chance.oneIn(WRONG_OWNER_ODDS)) {
      for (Host host : world.hosts()) {
        int index = addresses.indexOf(host.address());
        if (index >= 0 && host.has(name)) {
          return index;
        }
      }
    }
    return chance.oneIn(2) ? chance.below(addresses.size()) : -1;
  }

  private void deadline() {
    if (answers == 0) {
      engine.manager().broken().deadlinePassed();
      finish("the deadline");
    }
  }

  /** Answers it, unless it was answered. */
  void finish(String why) {
    if (answers > 0 && !world.is(Mutant.LATE_PART_ANSWERS_AGAIN)) {
      return;
    }
    if (++answers > 1) {
      throw new Violation("a read was answered " + answers + " times");
    }
    fetch.stop();
    SteppedFetch.Answer answer = fetch.answer(engine.manager().leases(), engine.holder());
    world.note(engine.manager(), "read answered by " + why + ": " + answer.blocks().size());
    world.oracle().answered(answer.blocks().size());
    engine.receive(answer);
  }

  boolean answered() {
    return answers == 1;
  }
}
