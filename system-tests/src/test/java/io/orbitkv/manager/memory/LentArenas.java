package io.orbitkv.manager.memory;

import io.orbitkv.api.RegionId;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Arenas for pools that come and go by the thousand: mapped once, handed out again when everything
 * that could touch them is over. Used by one thread.
 */
public final class LentArenas implements AutoCloseable {
  private final Map<Long, Deque<MemoryArena>> idle = new HashMap<>();

  /** An arena of so many bytes, with whatever its last use left in it. */
  public MemoryArena take(long bytes) {
    Deque<MemoryArena> fitting = idle.computeIfAbsent(bytes, _ -> new ArrayDeque<>());
    MemoryArena arena = fitting.pollFirst();
    return arena == null ? MemoryArena.create(0, new RegionId(0, 1), bytes) : arena;
  }

  /** Takes one back. */
  public void give(MemoryArena arena) {
    idle.computeIfAbsent(arena.bytes(), _ -> new ArrayDeque<>()).addFirst(arena);
  }

  /** A pool over an arena. */
  public static Pool pool(MemoryArena arena) {
    return new Pool(arena);
  }

  @Override
  public void close() {
    idle.values().forEach(arenas -> arenas.forEach(MemoryArena::close));
    idle.clear();
  }
}
