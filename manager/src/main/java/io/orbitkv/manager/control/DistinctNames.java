package io.orbitkv.manager.control;

import io.orbitkv.adapter.BlockName;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Names for a peer, who wants each once, and the way back to a list in which some repeat. */
@SuppressWarnings("ArrayRecordComponent") // never compared
record DistinctNames(List<BlockName> names, int[] positions) {
  static DistinctNames of(List<BlockName> repeating) {
    Map<BlockName, Integer> seen = HashMap.newHashMap(repeating.size());
    int[] positions = new int[repeating.size()];
    int i = 0;
    for (BlockName name : repeating) {
      Integer before = seen.putIfAbsent(name, seen.size());
      positions[i++] = before == null ? seen.size() - 1 : before;
    }
    BlockName[] names = new BlockName[seen.size()];
    seen.forEach((name, position) -> names[position] = name);
    return new DistinctNames(List.of(names), positions);
  }

  /** For each of the repeating names, the value of its distinct one. */
  long[] spread(long[] values) {
    long[] spread = new long[positions.length];
    for (int i = 0; i < spread.length; i++) {
      spread[i] = values[positions[i]];
    }
    return spread;
  }
}
