package io.orbitkv.tck;

import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Which faults strike, and when: a schedule that one seed stands for. At each {@link Point} the
 * n-th call has the same fate under the same seed, whatever other threads do elsewhere.
 * Thread-safe.
 */
public final class FaultPlan {
  /** A call of the SPI that a {@link FaultyTransport} can let fail. */
  public enum Point {
    /** {@code register} is refused; nothing was registered. */
    REGISTER,
    /** {@code close} of a registration is refused as by a device; the hold stays. */
    CLOSE_REGISTRATION,
    /** {@code connect} is refused. */
    CONNECT,
    /** {@code admit} is refused; nothing was admitted. */
    ADMIT,
    /** {@code read} is refused; nothing was submitted. */
    READ,
    /** {@code drain} of a ticket has no receipt yet, although there is one. */
    TICKET_DRAIN,
    /** {@code drain} of a source hold has no receipt yet, although there is one. */
    HOLD_DRAIN
  }

  /** What happens to the link during one read. */
  public enum LinkFault {
    /** Nothing. */
    NONE,
    /** It stands still in the middle. */
    STALL,
    /** It breaks. */
    CUT,
    /** It works, and the reader changes its mind. */
    CANCEL
  }

  private final long seed;
  private final int percent;
  private final Map<Point, SplittableRandom> points = new EnumMap<>(Point.class);
  private final SplittableRandom link;

  private FaultPlan(long seed, int percent) {
    this.seed = seed;
    this.percent = percent;
    SplittableRandom random = new SplittableRandom(seed);
    link = random.split();
    for (Point point : Point.values()) {
      points.put(point, random.split());
    }
  }

  /** No fault ever. */
  public static FaultPlan none() {
    return new FaultPlan(0, 0);
  }

  /** A quarter of all calls fail. */
  public static FaultPlan of(long seed) {
    return of(seed, 25);
  }

  /**
   * A plan.
   *
   * @param percent how many calls of a hundred fail, about
   */
  public static FaultPlan of(long seed, int percent) {
    return new FaultPlan(seed, percent);
  }

  /** Whether this call fails. */
  public synchronized boolean strikes(Point point) {
    SplittableRandom random = points.get(point);
    return random != null && random.nextInt(100) < percent;
  }

  /** What happens to the next read. */
  public synchronized LinkFault linkFault() {
    LinkFault[] all = LinkFault.values();
    return all[link.nextInt(all.length)];
  }

  /** A number from 0 to just below the bound, for the read that {@link #linkFault()} was for. */
  public synchronized long below(long bound) {
    return link.nextLong(bound);
  }

  @Override
  public String toString() {
    return "fault plan of seed " + seed + ", " + percent + " %";
  }
}
