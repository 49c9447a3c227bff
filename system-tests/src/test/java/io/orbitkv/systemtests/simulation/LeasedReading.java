package io.orbitkv.systemtests.simulation;

import io.orbitkv.manager.memory.Allocation;
import io.orbitkv.manager.transfer.SteppedFetch;
import java.util.List;

/** An engine process reads the blocks of a lease from the shared arena, and then releases it. */
final class LeasedReading implements Movement {
  private static final int SLOW_ODDS = 4;

  private final World world;
  private final SimulatedEngine engine;
  private final SteppedFetch.Answer answer;
  private final List<Allocation> blocks;
  private int step;
  private boolean over;

  LeasedReading(World world, SimulatedEngine engine, SteppedFetch.Answer answer) {
    this.world = world;
    this.engine = engine;
    this.answer = answer;
    this.blocks = answer.blocks().stream().map(SteppedFetch.FoundBlock::allocation).toList();
  }

  /** Its next step, some time later: the process goes on while its Manager is frozen or dead. */
  void goOn() {
    Pending next = Pending.at(engine.manager().host(), this, this::read);
    if (world.chance().oneIn(SLOW_ODDS)) {
      world.after(world.chance().between(0, Limits.LEASE_LIFETIME), next);
    } else {
      world.post(next);
    }
  }

  private void read() {
    if (engine.exited()) {
      over = true;
      return;
    }
    if (step == 0 && world.now() >= answer.expiresAtNanos()) {
      end();
      return;
    }
    SteppedFetch.FoundBlock block = answer.blocks().get(step / 2);
    long half = block.allocation().bytes() / 16 * 8;
    world
        .oracle()
        .checkContent(
            engine.manager(),
            block.name(),
            block.allocation(),
            step % 2 == 0 ? 0 : half,
            step % 2 == 0 ? half : block.allocation().bytes());
    if (++step == 2 * blocks.size()) {
      end();
    } else {
      goOn();
    }
  }

  private void end() {
    over = true;
    world.post(
        Pending.at(
            engine.manager(),
            "the release of lease " + answer.lease(),
            () -> {
              if (!engine.exited()) {
                engine.release(answer);
              }
            }));
  }

  @Override
  public SimulatedManager owner() {
    return engine.manager();
  }

  @Override
  public List<Allocation> touched() {
    return blocks;
  }

  @Override
  public boolean live() {
    return !over && !engine.exited();
  }

  @Override
  public String toString() {
    return "engine "
        + engine.holder()
        + " of "
        + engine.manager()
        + " reads lease "
        + answer.lease();
  }
}
