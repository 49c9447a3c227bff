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
  private final Map<BlockName, CompletableFuture<Boolean>> names = new ConcurrentHashMap<>();

  /**
   * Claims a name; if another operation has it, returns what completes when that one is done, with
   * whether a peer sent the block.
   */
  @Nullable CompletableFuture<Boolean> claim(BlockName name) {
    return names.putIfAbsent(name, new CompletableFuture<>());
  }

  /** Ends claims; of what was claimed a peer has sent {@code brought}. */
  void release(Set<BlockName> claimed, Set<BlockName> brought) {
    for (BlockName name : claimed) {
      CompletableFuture<Boolean> waiters = names.remove(name);
      if (waiters != null) {
        waiters.complete(brought.contains(name));
      }
    }
  }
}
