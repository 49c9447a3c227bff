package io.orbitkv.systemtests.simulation;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.catalog.Digest;
import io.orbitkv.manager.memory.Allocation;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.transfer.SteppedFetch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One engine process, attached to one incarnation of a Manager. Publishes, reads under leases, and
 * exits at any moment; the Manager hears of the exit later.
 */
final class SimulatedEngine {
  private final World world;
  private final SimulatedManager manager;
  private final long holder;
  private final List<Read> reads = new ArrayList<>();
  private @Nullable SimulatedRestore restore;
  private boolean exited;

  SimulatedEngine(World world, SimulatedManager manager, long holder) {
    this.world = world;
    this.manager = manager;
    this.holder = holder;
  }

  SimulatedManager manager() {
    return manager;
  }

  boolean usable() {
    return !exited && manager.alive() && !manager.closing();
  }

  boolean exited() {
    return exited;
  }

  List<Read> reads() {
    return reads;
  }

  /** Publishes a block: the copy takes its time, the process may exit, its Manager finishes it. */
  void publish(BlockName name) {
    if (manager.catalog().contains(name)) {
      return;
    }
    Hold filling;
    try {
      filling = manager.catalog().reserve(Blocks.bytes(name), name);
    } catch (TransportException e) {
      return;
    }
    Allocation block = filling.allocation();
    long half = block.bytes() / 16 * 8;
    Copy copy = new Copy(manager, block);
    world.oracle().watch(copy);
    Blocks.fill(name, block.memory(), 0, half);
    world.post(
        Pending.at(
            manager,
            "the copy of " + name + " ends",
            () -> {
              Blocks.fill(name, block.memory(), half, block.bytes());
              copy.over = true;
              Digest digest = world.chance().oneIn(2) ? Digest.of(block.memory()) : null;
              manager.catalog().seal(name, filling, digest);
            }));
  }

  private static final class Copy implements Movement {
    private final SimulatedManager owner;
    private final Allocation block;
    private boolean over;

    Copy(SimulatedManager owner, Allocation block) {
      this.owner = owner;
      this.block = block;
    }

    @Override
    public SimulatedManager owner() {
      return owner;
    }

    @Override
    public List<Allocation> touched() {
      return List.of(block);
    }

    @Override
    public boolean live() {
      return !over;
    }
  }

  /** Asks for blocks. */
  void read(List<BlockName> names, boolean prefix) {
    Read read = new Read(world, this, names, prefix);
    reads.add(read);
    read.begin();
  }

  /** Is granted a plan to restore a block by itself. */
  void restore(BlockName name) {
    if (restore == null) {
      restore = new SimulatedRestore(world, this);
    }
    restore.grant(name);
  }

  long holder() {
    return holder;
  }

  /** An answer has come: reads what it was given, if its lease still allows that. */
  void receive(SteppedFetch.Answer answer) {
    if (answer.lease() == 0) {
      return;
    }
    LeasedReading reading = new LeasedReading(world, this, answer);
    if (exited) {
      return;
    }
    if (world.is(Mutant.LEASE_EXPIRY_FREES)) {
      world.after(
          Limits.LEASE_LIFETIME,
          Pending.at(manager, "lease " + answer.lease() + " expires", () -> release(answer)));
    }
    world.oracle().watch(reading);
    reading.goOn();
  }

  /** The word that a lease is read no more. */
  void release(SteppedFetch.Answer answer) {
    try {
      manager.leases().release(holder, answer.lease());
    } catch (TransportException e) {
      // Released by the end of its process, or by a mutant.
      world.note(manager, e);
    }
  }

  /** The process exits; its pidfd is read later. */
  void exit() {
    exited = true;
    if (restore != null) {
      restore.exited();
    }
    world.post(
        Pending.at(
            manager, "the exit of engine " + holder, () -> manager.leases().releaseAll(holder)));
  }

  /** The socket closes while the process lives. */
  void closeSession() {
    if (world.is(Mutant.SESSION_END_FREES_LEASES)) {
      manager.leases().releaseAll(holder);
    }
  }
}
