package io.orbitkv.systemtests.simulation;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.restore.Barriers;
import io.orbitkv.adapter.restore.ClientOrdering;
import io.orbitkv.adapter.restore.ManagerState;
import io.orbitkv.adapter.restore.RestoreClaim;
import io.orbitkv.adapter.restore.SessionClaims;
import io.orbitkv.adapter.restore.SharedWord;
import io.orbitkv.manager.memory.Allocation;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import io.orbitkv.manager.restore.RecordPhase;
import io.orbitkv.manager.restore.RestoreRecord;
import io.orbitkv.manager.restore.RestoringSession;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One restore record between a Manager and one engine process, used for one plan after another: the
 * real record and claim over words whose stores become visible late.
 */
final class SimulatedRestore implements Movement {
  private static final int PARTS = 2;

  private final World world;
  private final SimulatedEngine engine;
  private final boolean fences;
  private final StoreBuffer.Cell managerCell = new StoreBuffer.Cell();
  private final StoreBuffer.Cell engineCell = new StoreBuffer.Cell();
  private final StoreBuffer managerStores;
  private final StoreBuffer engineStores;
  private final RestoreRecord record;
  private final SessionClaims claims;
  private final SharedWord granted;
  private long generation;
  private int openParts;
  private @Nullable BlockName name;
  private @Nullable Hold source;
  private @Nullable RestoreClaim last;

  SimulatedRestore(World world, SimulatedEngine engine) {
    this.world = world;
    this.engine = engine;
    this.fences = world.chance().oneIn(2);
    this.managerStores = new StoreBuffer(this::managerStored);
    this.engineStores = new StoreBuffer(this::engineStored);
    this.record = new RestoreRecord(managerStores.view(managerCell), new ManagerBarriers());
    this.granted = engineStores.view(managerCell);
    this.claims =
        new SessionClaims(
            1, _ -> engineStores.view(engineCell), _ -> granted, new EngineBarriers());
  }

  private void managerStored() {
    world.post(
        Pending.at(engine.manager(), "a store of the Manager is seen", managerStores::showFirst));
  }

  private void engineStored() {
    world.post(
        Pending.at(
            engine.manager().host(), "a store of an engine is seen", engineStores::showFirst));
  }

  /** The Manager grants a plan for a block that is here, if the last one has ended. */
  void grant(BlockName block) {
    if (record.phase() != RecordPhase.EMPTY || engine.exited()) {
      return;
    }
    Optional<Hold> pin =
        engine.manager().catalog().hold(block, HoldKind.LEASE, "plan of " + engine.holder());
    if (pin.isEmpty()) {
      return;
    }
    name = block;
    source = pin.get();
    generation++;
    ClientOrdering ordering = fences ? ClientOrdering.FENCES : ClientOrdering.STORES_LATE;
    record.grant(
        generation, List.of(new RestoringSession(managerStores.view(engineCell), ordering, false)));
    world.oracle().watch(this);
    poll();
    long plan = generation;
    world.post(Pending.at(engine.manager().host(), "an engine has a plan", () -> claim(plan)));
    world.after(
        world.chance().between(0, Limits.GRANT_LIFETIME),
        Pending.at(engine.manager(), "a plan is revoked", () -> revoke(plan)));
  }

  private void revoke(long plan) {
    if (plan == generation && record.revoke()) {
      if (world.is(Mutant.REVOCATION_FREES)) {
        release();
      }
      poll();
    }
  }

  private void poll() {
    if (record.phase() == RecordPhase.EMPTY) {
      return;
    }
    if (record.poll() == RecordPhase.RELEASED) {
      release();
      record.reap();
    } else {
      long plan = generation;
      world.after(
          Limits.MILLISECOND, Pending.at(engine.manager(), "a record is read", () -> poll(plan)));
    }
  }

  private void poll(long plan) {
    if (plan == generation) {
      poll();
    }
  }

  private void release() {
    Hold pin = source;
    source = null;
    if (pin != null) {
      pin.end();
    }
  }

  /** The process exits: its stores are seen, and the Manager hears of it later. */
  void exited() {
    engineStores.drain();
    world.post(
        Pending.at(
            engine.manager(),
            "a record's process has exited",
            () -> {
              if (record.phase() != RecordPhase.EMPTY) {
                record.exited(0);
                poll();
              }
            }));
  }

  private void claim(long plan) {
    // A claim of an older plan, which was revoked before its ACTIVE was seen, has to back off
    // first.
    boolean busy = last != null && last.phase() != RestoreClaim.Phase.ENDED;
    if (engine.exited() || busy || granted.load() != ManagerState.GRANTED.word(plan)) {
      // Not seen yet, or not there any more.
      if (!engine.exited() && plan == generation && record.phase() != RecordPhase.EMPTY) {
        world.after(
            Limits.MILLISECOND,
            Pending.at(engine.manager().host(), "an engine looks again", () -> claim(plan)));
      }
      return;
    }
    RestoreClaim now = claims.hold(0, plan);
    last = now;
    now.begin(PARTS);
    openParts = PARTS;
    step(now);
  }

  private void step(RestoreClaim now) {
    if (engine.exited() || now.phase() == RestoreClaim.Phase.ENDED) {
      return;
    }
    if (now.phase() == RestoreClaim.Phase.COPYING) {
      copyPart(now);
    } else {
      now.step();
    }
    world.post(
        Pending.at(engine.manager().host(), "an engine goes on with its plan", () -> step(now)));
  }

  private void copyPart(RestoreClaim now) {
    Hold pin = source;
    BlockName block = name;
    if (pin == null || block == null) {
      throw new Violation("the source of a plan was released while its engine copies: " + now);
    }
    Allocation memory = pin.allocation();
    long half = memory.bytes() / 16 * 8;
    boolean first = openParts-- == PARTS;
    world
        .oracle()
        .checkContent(
            engine.manager(), block, memory, first ? 0 : half, first ? half : memory.bytes());
    now.partEnded(true);
  }

  private final class ManagerBarriers implements Barriers {
    @Override
    public void fence() {
      managerStores.drain();
    }

    @Override
    public void membarrier() {
      managerStores.drain();
      engineStores.drain();
    }
  }

  private final class EngineBarriers implements Barriers {
    @Override
    public void fence() {
      if (fences && !world.is(Mutant.ENGINE_DOES_NOT_FENCE)) {
        engineStores.drain();
      }
    }

    @Override
    public void membarrier() {
      throw new IllegalStateException("an engine issues none");
    }
  }

  @Override
  public SimulatedManager owner() {
    return engine.manager();
  }

  @Override
  public List<Allocation> touched() {
    return source == null ? List.of() : List.of(source.allocation());
  }

  @Override
  public boolean live() {
    return record.phase() != RecordPhase.EMPTY && !engine.exited();
  }
}
