package io.orbitkv.systemtests.simulation;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Something that will happen when the random source picks it.
 *
 * @param host where; not while that host is frozen
 * @param incarnation dies with it; null if it outlives Managers, as a message does
 * @param what for the trace
 * @param ready whether it can happen now
 * @param event what happens
 */
record Pending(
    Host host,
    @Nullable SimulatedManager incarnation,
    Object what,
    BooleanSupplier ready,
    Runnable event) {
  static Pending at(SimulatedManager manager, Object what, Runnable event) {
    return new Pending(manager.host(), manager, what, () -> true, event);
  }

  static Pending at(SimulatedManager manager, Object what, BooleanSupplier ready, Runnable event) {
    return new Pending(manager.host(), manager, what, ready, event);
  }

  static Pending at(Host host, Object what, Runnable event) {
    return new Pending(host, null, what, () -> true, event);
  }

  boolean gone() {
    return incarnation != null && !incarnation.alive();
  }

  boolean isReady() {
    return !host.frozen() && ready.getAsBoolean();
  }
}
