package io.orbitkv.manager.memory;

import io.orbitkv.api.Descriptor;
import java.lang.foreign.MemorySegment;

/**
 * A range of an arena, for one use. Its generation comes from one counter that only rises, so that
 * no number ever names two uses. Its state and its holds belong to the {@link Pool}, which frees
 * the bytes only when the allocation is retired and no hold is on it.
 */
public final class Allocation {
  private final MemoryArena arena;
  private final long offset;
  private final long bytes;
  private final long reservedBytes;
  private final long generation;

  // Guarded by the pool.
  AllocationState state = AllocationState.RESERVED;
  int holds;
  int quarantinedHolds;

  Allocation(MemoryArena arena, long offset, long bytes, long reservedBytes, long generation) {
    this.arena = arena;
    this.offset = offset;
    this.bytes = bytes;
    this.reservedBytes = reservedBytes;
    this.generation = generation;
  }

  /** The arena it lies in. */
  public MemoryArena arena() {
    return arena;
  }

  /** Where it begins, bytes from the start of the arena. */
  public long offset() {
    return offset;
  }

  /** Bytes that were asked for. */
  public long bytes() {
    return bytes;
  }

  /** Names this use of the range. */
  public long generation() {
    return generation;
  }

  long reservedBytes() {
    return reservedBytes;
  }

  /** The bytes; only for whoever has a hold on it. */
  public MemorySegment memory() {
    return arena.memory().asSlice(offset, bytes);
  }

  /** A part of it as a descriptor of the arena's region. */
  public Descriptor descriptor(long from, long length) {
    if (from < 0 || length < 0 || from > bytes - length) {
      throw new IllegalArgumentException(
          length + " bytes at " + from + " leave an allocation of " + bytes);
    }
    return Descriptor.of(arena.id(), offset + from, length);
  }

  @Override
  public String toString() {
    return "allocation " + generation + " (" + bytes + " bytes)";
  }
}
