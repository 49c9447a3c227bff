package io.orbitkv.manager.transfer;

import io.orbitkv.adapter.BlockName;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The names that some operation is fetching now, so that two operations do not fetch the same block
 * twice. Thread-safe.
 */
final class InFlightNames {
  private final Map<BlockName, CompletableFuture<Void>> names = new ConcurrentHashMap<>();

  /** Claims a name; if another operation has it, returns what completes when that one is done. */
  @Nullable CompletableFuture<Void> claim(BlockName name) {
    return names.putIfAbsent(name, new CompletableFuture<>());
  }

  void release(Set<BlockName> claimed) {
    for (BlockName name : claimed) {
      CompletableFuture<Void> waiters = names.remove(name);
      if (waiters != null) {
        waiters.complete(null);
      }
    }
  }
}
