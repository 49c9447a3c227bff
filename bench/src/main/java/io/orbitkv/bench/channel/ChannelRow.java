package io.orbitkv.bench.channel;

import io.orbitkv.bench.Spread;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * One client, placement and pace.
 *
 * @param paceMicros from one round trip's begin to the next one's; 0 one after the other
 * @param rounds what was measured, at least once
 * @param idlePercent what both processes use of one core while nothing is asked of them
 */
public record ChannelRow(
    ChannelClient client,
    Placement placement,
    int paceMicros,
    List<RoundTrips> rounds,
    double idlePercent) {
  /** Copies the list. */
  public ChannelRow {
    rounds = List.copyOf(rounds);
  }

  /** The median of the rounds' medians, microseconds, and the extremes. */
  public Spread p50() {
    return spread(RoundTrips::p50);
  }

  /** The median of the rounds' 99th percentiles, microseconds, and the extremes. */
  public Spread p99() {
    return spread(RoundTrips::p99);
  }

  /** The median of the rounds' 99.9th percentiles, microseconds, and the extremes. */
  public Spread p999() {
    return spread(RoundTrips::p999);
  }

  private Spread spread(ToDoubleFunction<RoundTrips> figure) {
    return Spread.of(rounds.stream().mapToDouble(figure).toArray());
  }
}
