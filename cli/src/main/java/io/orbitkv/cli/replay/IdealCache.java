package io.orbitkv.cli.replay;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A cache that never forgets and that every request shares, with the rule that a block is a hit
 * only if all earlier blocks of its request are: what no real one can exceed. Not thread-safe.
 */
final class IdealCache {
  private final Set<Long> known = new HashSet<>();

  /** The hits of a request; afterwards the cache knows all its blocks. */
  int hits(TraceRequest request) {
    int hits = 0;
    for (long hash : request.hashes()) {
      if (!known.contains(hash)) {
        break;
      }
      hits++;
    }
    known.addAll(request.hashes());
    return hits;
  }

  /** How many different blocks it has been shown. */
  long blocks() {
    return known.size();
  }

  /** The hits of all requests, from an empty cache. */
  static long hits(List<TraceRequest> requests) {
    IdealCache cache = new IdealCache();
    return requests.stream().mapToLong(cache::hits).sum();
  }
}
