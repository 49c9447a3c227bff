package io.orbitkv.manager.transfer;

import io.orbitkv.adapter.BlockName;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Which peer the last blocks of a namespace came from, and how long they were: who is asked for a
 * grant at once, without a look-up before. A guess: wrong ones cost one request. Thread-safe.
 */
final class OwnerHints {
  /**
   * A guess.
   *
   * @param bytes length of a block there; what is cut by it need not fit
   */
  record Hint(RemotePeers.RemotePeer owner, long bytes) {}

  private static final int MAX_NAMESPACES = 1024;

  private final Map<String, Hint> hints = new ConcurrentHashMap<>();

  /** The guess for a block's namespace, or null. */
  @Nullable Hint of(BlockName name) {
    return hints.get(name.namespace());
  }

  /** That block came from there. */
  void learn(BlockName name, RemotePeers.RemotePeer owner, long bytes) {
    Hint known = hints.get(name.namespace());
    if (known == null || known.bytes() != bytes || !known.owner().equals(owner)) {
      if (hints.size() >= MAX_NAMESPACES) {
        hints.clear();
      }
      hints.put(name.namespace(), new Hint(owner, bytes));
    }
  }

  /** Nothing of its namespace was there: the next one looks first. */
  void forget(BlockName name, RemotePeers.RemotePeer owner) {
    hints.computeIfPresent(name.namespace(), (_, hint) -> hint.owner().equals(owner) ? null : hint);
  }
}
