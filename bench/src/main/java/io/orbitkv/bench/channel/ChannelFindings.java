package io.orbitkv.bench.channel;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What was measured.
 *
 * @param rows by client, placement and pace
 * @param wakes how often a thread of the channel was woken while nothing was asked of anybody, by
 *     its name and process; only those that were
 * @param leftOut what was not measured, and why
 */
public record ChannelFindings(
    List<ChannelRow> rows, Map<String, Long> wakes, Map<String, String> leftOut) {
  /** Copies all, in their order. */
  public ChannelFindings {
    rows = List.copyOf(rows);
    wakes = Collections.unmodifiableMap(new TreeMap<>(wakes));
    leftOut = Collections.unmodifiableMap(new LinkedHashMap<>(leftOut));
  }
}
