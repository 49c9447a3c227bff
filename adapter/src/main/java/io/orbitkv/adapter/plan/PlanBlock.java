package io.orbitkv.adapter.plan;

import io.orbitkv.adapter.wire.Cursor;

/**
 * One block of a plan, 32 bytes: u32 index, u32 arena, u64 offset, u64 bytes, u64 generation.
 *
 * @param index of a promise: which of the names asked for; of a restore: which of its list
 * @param arena index of the arena that holds it
 * @param offset where it begins there, bytes
 * @param bytes its length
 * @param generation of its allocation
 */
public record PlanBlock(long index, long arena, long offset, long bytes, long generation) {
  /** Writes it. */
  public void encode(Cursor to) {
    to.putU32(index).putU32(arena).putU64(offset).putU64(bytes).putU64(generation);
  }

  /** Reads one; its numbers are not checked. */
  public static PlanBlock decode(Cursor from) {
    return new PlanBlock(from.u32(), from.u32(), from.u64(), from.u64(), from.u64());
  }
}
