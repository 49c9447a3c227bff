package io.orbitkv.systemtests.simulation;

import io.orbitkv.manager.memory.LentArenas;
import io.orbitkv.manager.memory.MemoryArena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One simulated world: its clock, its events, its network and its hosts. One thread. */
final class World {
  private record Timer(BooleanSupplier needed, Pending event) {}

  private record Due(long nanos, long order) implements Comparable<Due> {
    @Override
    public int compareTo(Due other) {
      int byTime = Long.compare(nanos, other.nanos);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  private final Chance chance;
  private final Weather weather;
  private final Mutant mutant;
  private final Trace trace;
  private final LentArenas arenas;
  private final Oracle oracle = new Oracle();
  private final List<Host> hosts = new ArrayList<>();
  private final List<Pending> pending = new ArrayList<>();
  private final TreeMap<Due, Timer> timers = new TreeMap<>();
  private final List<MemoryArena> lent = new ArrayList<>();
  private long now = Limits.MILLISECOND;
  private long order;
  private boolean calm;

  World(long seed, Mutant mutant, Trace trace, LentArenas arenas) {
    this.chance = new Chance(seed);
    this.weather = Weather.draw(chance);
    this.mutant = mutant;
    this.trace = trace;
    this.arenas = arenas;
    for (int i = 0; i < weather.hosts(); i++) {
      hosts.add(new Host(i));
    }
    hosts.forEach(host -> host.start(this));
    trace.add(now, "world", weather);
  }

  Chance chance() {
    return chance;
  }

  Weather weather() {
    return weather;
  }

  Oracle oracle() {
    return oracle;
  }

  List<Host> hosts() {
    return hosts;
  }

  long now() {
    return now;
  }

  /** Whether faults have stopped for good. */
  boolean calm() {
    return calm;
  }

  void becomeCalm() {
    calm = true;
    note("world", "calm: no more faults");
  }

  /** Whether a provider refuses a call now. */
  boolean refuses() {
    return !calm && chance.oneIn(weather.refusalOdds());
  }

  /** Whether a provider breaks its contract now. */
  boolean isDefective() {
    return !calm && chance.oneIn(weather.defectOdds());
  }

  boolean is(Mutant broken) {
    return mutant == broken;
  }

  void note(Object where, Object what) {
    trace.add(now, where, what);
  }

  MemoryArena arena() {
    MemoryArena arena = arenas.take(weather.poolPages() * Limits.PAGE);
    lent.add(arena);
    return arena;
  }

  /** Gives all memory back; nothing may happen in this world afterwards. */
  void end() {
    lent.forEach(arenas::give);
    lent.clear();
  }

  /** Makes an event possible from now on. */
  void post(Pending event) {
    pending.add(event);
  }

  /** Makes an event possible after so many ns. */
  void after(long nanos, Pending event) {
    after(nanos, () -> true, event);
  }

  /** As above, unless nobody needs it any more by then. */
  void after(long nanos, BooleanSupplier needed, Pending event) {
    timers.put(new Due(now + nanos, ++order), new Timer(needed, event));
  }

  /** Sends a message, which may be lost, late, overtaken or doubled. */
  void send(Host to, Object message, Consumer<SimulatedManager> deliver, Runnable lost) {
    if (!calm && chance.oneIn(weather.lossOdds())) {
      note(to, "lost: " + message);
      lost.run();
      return;
    }
    Pending delivery =
        Pending.at(
            to,
            message,
            () -> {
              SimulatedManager there = to.manager();
              if (there == null) {
                lost.run();
              } else {
                deliver.accept(there);
              }
            });
    if (!calm && chance.oneIn(weather.slowOdds())) {
      after(chance.between(0, Limits.GRANT_LIFETIME), delivery);
    } else {
      post(delivery);
    }
    if (!calm && chance.oneIn(weather.copyOdds())) {
      after(chance.between(0, Limits.GRANT_LIFETIME), delivery);
    }
  }

  /** Moves the clock. */
  void advance(long nanos) {
    now += nanos;
    while (!timers.isEmpty() && timers.firstKey().nanos() <= now) {
      Timer due = timers.pollFirstEntry().getValue();
      if (!due.event().gone() && due.needed().getAsBoolean()) {
        pending.add(due.event());
      }
    }
  }

  /** Moves the clock to the next event that waits for it; false if none does. */
  boolean advanceToNext() {
    Map.@Nullable Entry<Due, Timer> first = timers.firstEntry();
    if (first == null) {
      return false;
    }
    advance(Math.max(0, first.getKey().nanos() - now));
    return true;
  }

  /** Lets one event happen, any of those that can; false if none can. */
  boolean happen() {
    int count = pending.size();
    int start = count == 0 ? 0 : chance.below(count);
    for (int i = 0; i < count; i++) {
      int index = (start + i) % count;
      Pending event = pending.get(index);
      if (event.isReady()) {
        pending.set(index, pending.getLast());
        pending.removeLast();
        Object where = event.incarnation() == null ? event.host() : event.incarnation();
        note(where, event.what());
        event.event().run();
        return true;
      }
    }
    return false;
  }

  /** A Manager has died: what it was about to do does not happen. */
  void forgetTheDead() {
    pending.removeIf(Pending::gone);
  }
}
