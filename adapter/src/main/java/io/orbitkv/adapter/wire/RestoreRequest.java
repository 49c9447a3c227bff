package io.orbitkv.adapter.wire;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The descriptor of a {@link Opcode#RESTORE}: u64 deadline, u32 redeemers, u32 count, then u64 a
 * block.
 *
 * @param deadlineNanos how long the answer may be deferred, ns
 * @param redeemers how many sessions are to redeem it; 0 for every worker
 * @param generations of the allocations of the blocks, in order; one may come twice
 */
public record RestoreRequest(long deadlineNanos, int redeemers, List<Long> generations) {
  private static final int HEADER_BYTES = 16;

  /** Copies the list. */
  public RestoreRequest {
    generations = List.copyOf(generations);
  }

  /** Encodes the descriptor. */
  public byte[] encode() {
    byte[] encoded =
        new byte[Math.addExact(HEADER_BYTES, Math.multiplyExact(generations.size(), 8))];
    Cursor to = new Cursor("restore", MemorySegment.ofArray(encoded));
    to.putU64(deadlineNanos).putU32(redeemers).putU32(generations.size());
    generations.forEach(to::putU64);
    return encoded;
  }

  /**
   * Decodes the descriptor; but for the count its numbers are not checked.
   *
   * @throws io.orbitkv.api.TransportException INVALID if it breaks the layout or the limit
   */
  public static RestoreRequest decode(Cursor from) {
    long deadline = from.u64();
    long redeemers = from.u32();
    int count = from.count(Names.LIMIT, 8);
    List<Long> generations = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      generations.add(from.u64());
    }
    from.end();
    return new RestoreRequest(deadline, (int) Math.min(redeemers, Integer.MAX_VALUE), generations);
  }
}
