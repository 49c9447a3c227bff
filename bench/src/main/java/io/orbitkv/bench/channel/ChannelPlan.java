package io.orbitkv.bench.channel;

import java.util.List;

/**
 * What is measured, and how.
 *
 * @param clients who
 * @param placements where
 * @param rounds how often; at least 1
 * @param seconds of each measurement
 * @param idleSeconds how long all are left alone afterwards
 */
public record ChannelPlan(
    List<ChannelClient> clients,
    List<Placement> placements,
    int rounds,
    double seconds,
    double idleSeconds) {
  /** One after the other, and one a millisecond. */
  public static final List<Integer> PACES_MICROS = List.of(0, 1000);

  /** Copies the lists. */
  public ChannelPlan {
    clients = List.copyOf(clients);
    placements = List.copyOf(placements);
  }

  /** How many steps {@link ChannelBench} takes at most. */
  public long steps() {
    long shapes = (long) clients.size() * placements.size() * PACES_MICROS.size();
    return 2L * clients.size() + shapes * rounds;
  }
}
