package io.orbitkv.provider.tcp;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The carriers of one transport that owe words, also those of peers that were closed: what an owner
 * waits for does not end with the object that read from it. Thread-safe.
 */
final class WordCarriers {
  private final Set<WordCarrier> owing = ConcurrentHashMap.newKeySet();
  private final Engine engine;

  /** When the last tries end, by the engine's clock; null until the transport closes. */
  private volatile @Nullable Long endNanos;

  private volatile boolean cut;

  WordCarriers(Engine engine) {
    this.engine = engine;
  }

  void owes(WordCarrier carrier) {
    owing.add(carrier);
    if (cut) {
      carrier.cut();
    }
  }

  void owesNoMore(WordCarrier carrier) {
    owing.remove(carrier);
  }

  /** How many owe words now. */
  int owing() {
    return owing.size();
  }

  /** The transport closes: each has one more try, within the time that a connection may take. */
  void close() {
    endNanos = engine.clock().getAsLong() + Engine.CONNECT_NANOS;
    owing.forEach(WordCarrier::start);
  }

  /** Whether a try that begins now is the last one. */
  boolean closing() {
    return endNanos != null;
  }

  /** How long a try that begins now may wait for the owner, ms. */
  int patienceMillis() {
    Long end = endNanos;
    if (end == null) {
      return Engine.CONNECT_MILLIS;
    }
    long left = (end - engine.clock().getAsLong()) / 1_000_000;
    return Math.clamp(left, 1, Engine.CONNECT_MILLIS);
  }

  /** Ends the last tries, and those that are still to begin. */
  void cut() {
    cut = true;
    owing.forEach(WordCarrier::cut);
  }
}
