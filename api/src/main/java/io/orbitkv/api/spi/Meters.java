package io.orbitkv.api.spi;

/**
 * Named counters and gauges of one engine; shown under {@code orbitkv_} with the provider's name as
 * a label. Cheap: an engine keeps the objects and counts on its hot path.
 */
public interface Meters {
  /**
   * A value that only rises; the same object for the same name.
   *
   * @param name lower case with underscores, with the unit, as in {@code received_bytes}
   * @param help what one sample is
   */
  Counter counter(String name, String help);

  /**
   * A value that rises and falls; the same object for the same name.
   *
   * @param name as for {@link #counter}
   * @param help what one sample is
   */
  Gauge gauge(String name, String help);

  /** A value that only rises. */
  interface Counter {
    /** Adds {@code amount}, at least 0. */
    void add(long amount);
  }

  /** A value that rises and falls. */
  interface Gauge {
    /** Adds {@code amount}, which may be negative. */
    void add(long amount);
  }
}
