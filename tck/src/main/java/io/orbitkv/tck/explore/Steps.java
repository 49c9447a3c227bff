package io.orbitkv.tck.explore;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The steps that a world offers; the explorer runs one of them, and then asks again. */
public final class Steps {
  record Offer(String what, boolean fault, Runnable action) {}

  private final List<Offer> offers = new ArrayList<>();

  /** Null: all are kept. */
  private final @Nullable String wanted;

  private Steps(@Nullable String wanted) {
    this.wanted = wanted;
  }

  /** All that a world offers. */
  static List<Offer> of(World world) {
    Steps steps = new Steps(null);
    world.offer(steps);
    return steps.offers;
  }

  /** The one of that text; null if it is not offered. */
  static @Nullable Offer find(World world, String what) {
    Steps steps = new Steps(what);
    world.offer(steps);
    return steps.offers.isEmpty() ? null : steps.offers.get(0);
  }

  /**
   * Offers a step.
   *
   * @param what who does what, in one line; no two steps of one state have the same
   * @param action does it; may be run once, or never
   */
  public void step(String what, Runnable action) {
    offer(what, false, action);
  }

  /** Offers a fault: as {@link #step}, but no end may depend on it. */
  public void fault(String what, Runnable action) {
    offer(what, true, action);
  }

  private void offer(String what, boolean fault, Runnable action) {
    if (wanted == null) {
      if (offers.stream().anyMatch(offer -> offer.what.equals(what))) {
        throw new IllegalArgumentException("two steps of one state are called: " + what);
      }
      offers.add(new Offer(what, fault, action));
    } else if (wanted.equals(what)) {
      offers.add(new Offer(what, fault, action));
    }
  }
}
