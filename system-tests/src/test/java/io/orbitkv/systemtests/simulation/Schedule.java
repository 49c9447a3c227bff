package io.orbitkv.systemtests.simulation;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.manager.memory.LentArenas;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One schedule: events, engines' wishes and faults in an order that its seed chooses; then calm,
 * until everything that can end has ended; then the accounts.
 */
final class Schedule {
  private static final int STEPS = 300;
  private static final int TRIES = 6;
  private static final int CALM_STEPS = 20_000;

  private final World world;
  private final Chance chance;
  private final Map<Host, SimulatedEngine> engines = new LinkedHashMap<>();
  private final List<SimulatedEngine> all = new ArrayList<>();
  private long lastHolder;

  private Schedule(World world) {
    this.world = world;
    this.chance = world.chance();
  }

  /** What a schedule came to. */
  record Result(int answers, int blocksRead) {}

  /**
   * Runs one.
   *
   * @throws Violation if the oracle found something
   */
  static Result run(long seed, Mutant mutant, Trace trace, LentArenas arenas) {
    World world = new World(seed, mutant, trace, arenas);
    try {
      return new Schedule(world).run();
    } catch (Violation e) {
      world.note("oracle", e);
      throw e;
    } catch (RuntimeException | Error e) {
      world.note("oracle", e);
      throw new Violation("something threw: " + e, e);
    } finally {
      world.end();
    }
  }

  private Result run() {
    begin();
    for (int i = 0; i < STEPS; i++) {
      step();
      world.oracle().check();
    }
    world.becomeCalm();
    settle();
    new Accounts(world, all, true).check();
    for (Host host : world.hosts()) {
      if (host.frozen()) {
        host.freeze(false);
        world.note(host, "thaws");
      }
    }
    settle();
    Accounts accounts = new Accounts(world, all, false);
    accounts.check();
    accounts.useEveryGrant();
    settle();
    accounts.check();
    accounts.useAllMemory();
    return new Result(world.oracle().answers(), world.oracle().blocksRead());
  }

  private void step() {
    int dice = chance.below(100);
    if (dice < 66) {
      if (!world.happen()) {
        wish();
      }
    } else if (dice < 74) {
      world.advance(chance.between(0, world.weather().stepNanos()));
    } else if (dice < 79) {
      openAStream();
    } else if (dice < 81) {
      startAgain();
    } else if (dice < 96) {
      wish();
    } else {
      fault();
    }
  }

  private void begin() {
    for (Host host : world.hosts()) {
      SimulatedManager manager = Objects.requireNonNull(host.manager());
      manager.links().values().forEach(SimulatedLink::up);
      for (BlockName name : Blocks.names(chance, 3)) {
        engine(manager).publish(name);
      }
    }
  }

  /** Lets everything happen that can, without faults. */
  private void settle() {
    for (int i = 0; i < CALM_STEPS; i++) {
      if (!world.happen() && !world.advanceToNext()) {
        return;
      }
      world.oracle().check();
      if (i % 64 == 63 && Accounts.nothingLeft(world, all)) {
        return;
      }
    }
  }

  private void openAStream() {
    for (Host host : world.hosts()) {
      SimulatedManager from = host.manager();
      if (from != null && !from.closing() && !host.frozen()) {
        for (SimulatedLink link : from.links().values()) {
          if (!link.isUp() && chance.oneIn(2)) {
            world.note(from, "opens a stream to " + link.address());
            link.up();
          }
        }
      }
    }
  }

  private SimulatedEngine engine(SimulatedManager manager) {
    SimulatedEngine engine = engines.get(manager.host());
    if (engine == null || engine.exited() || engine.manager() != manager) {
      engine = new SimulatedEngine(world, manager, ++lastHolder);
      engines.put(manager.host(), engine);
      all.add(engine);
    }
    return engine;
  }

  private void wish() {
    SimulatedManager manager = chance.of(world.hosts()).manager();
    if (manager == null || manager.closing() || manager.host().frozen()) {
      return;
    }
    SimulatedEngine engine = engine(manager);
    List<BlockName> names = wanted(manager.host());
    if (chance.oneIn(4)) {
      BlockName name = Blocks.names(chance, 1).getFirst();
      world.note(manager, "engine " + engine.holder() + " restores " + name);
      engine.restore(name);
    } else if (chance.oneIn(3) || !isElsewhere(manager.host(), names.getFirst())) {
      BlockName name = Blocks.names(chance, 1).getFirst();
      world.note(manager, "engine " + engine.holder() + " publishes " + name);
      engine.publish(name);
    } else {
      world.note(manager, "engine " + engine.holder() + " reads " + names);
      engine.read(names, chance.oneIn(3));
    }
  }

  /** Most often something that is to be had from somebody else. */
  private List<BlockName> wanted(Host host) {
    List<BlockName> names = Blocks.names(chance, 3);
    for (int i = 0; i < TRIES && !isElsewhere(host, names.getFirst()); i++) {
      names = Blocks.names(chance, 3);
    }
    return names;
  }

  private boolean isElsewhere(Host host, BlockName name) {
    return !host.has(name) && world.hosts().stream().anyMatch(other -> other.has(name));
  }

  private void startAgain() {
    for (Host host : world.hosts()) {
      if (host.manager() == null && !host.frozen() && chance.oneIn(2)) {
        world.note(host, "starts again");
        host.start(world);
      }
    }
  }

  private void fault() {
    Weather weather = world.weather();
    Host host = chance.of(world.hosts());
    SimulatedManager manager = host.manager();
    int dice = chance.below(10);
    if (manager == null) {
      startAgain();
    } else if (dice < 2 && chance.below(4) < weather.crashes()) {
      world.note(manager, "crashes");
      manager.die();
    } else if (dice == 2 && chance.below(4) < weather.crashes() && !manager.closing()) {
      world.note(manager, "shuts down");
      manager.shutdown();
    } else if (dice < 5 && chance.below(3) < weather.freezes()) {
      world.note(host, host.frozen() ? "thaws" : "freezes");
      host.freeze(!host.frozen());
    } else if (dice == 5 && weather.cuts() > 0) {
      SimulatedLink link = chance.of(List.copyOf(manager.links().values()));
      world.note(manager, "its stream to " + link.address() + " breaks");
      link.down("it broke");
    } else if (dice == 6 && weather.cuts() > 0) {
      manager.transport().cutOne();
    } else if (dice == 7) {
      engine(manager).closeSession();
    } else if (dice == 8) {
      SimulatedEngine engine = engine(manager);
      world.note(manager, "engine " + engine.holder() + " exits");
      engine.exit();
    } else if (!all.isEmpty()) {
      cancelSomething();
    }
  }

  private void cancelSomething() {
    SimulatedEngine engine = chance.of(all);
    if (engine.manager().alive() && !engine.reads().isEmpty()) {
      Read read = chance.of(engine.reads());
      if (!read.answered()) {
        read.finish("the engine's cancel");
      }
    }
  }
}
