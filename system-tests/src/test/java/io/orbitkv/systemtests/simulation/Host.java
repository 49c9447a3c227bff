package io.orbitkv.systemtests.simulation;

import io.orbitkv.adapter.BlockName;
import org.jspecify.annotations.Nullable;

/** An address, at which one Manager runs after another. */
final class Host {
  private final int number;
  private @Nullable SimulatedManager manager;
  private int incarnations;
  private boolean frozen;

  Host(int number) {
    this.number = number;
  }

  String address() {
    return String.valueOf((char) ('A' + number));
  }

  /** The Manager that runs here now. */
  @Nullable SimulatedManager manager() {
    return manager;
  }

  boolean has(BlockName name) {
    return manager != null && manager.catalog().contains(name);
  }

  void start(World world) {
    manager = new SimulatedManager(world, this, ++incarnations);
  }

  void stopped() {
    manager = null;
  }

  boolean frozen() {
    return frozen;
  }

  void freeze(boolean on) {
    frozen = on;
  }

  @Override
  public String toString() {
    return address();
  }
}
