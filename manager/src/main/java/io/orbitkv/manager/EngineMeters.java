package io.orbitkv.manager;

import io.orbitkv.api.spi.Meters;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The counters and gauges of one engine, by name. */
final class EngineMeters implements Meters {
  private final Map<String, LongAdder> values = new ConcurrentHashMap<>();

  @Override
  public Counter counter(String name, String help) {
    return value(name)::add;
  }

  @Override
  public Gauge gauge(String name, String help) {
    return value(name)::add;
  }

  Map<String, Long> snapshot() {
    Map<String, Long> sums = new TreeMap<>();
    values.forEach((name, adder) -> sums.put(name, adder.sum()));
    return sums;
  }

  private LongAdder value(String name) {
    return values.computeIfAbsent(name, _ -> new LongAdder());
  }
}
