package io.orbitkv.adapter.wire;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * One block in the descriptor of a {@link Opcode#QUERY_ANSWER}, which is a u32 count, a u32 that is
 * 0, then 40 bytes a block: u32 index, u16 origin, u16 0, u32 arena, u32 0, u64 offset, u64 bytes,
 * u64 generation. In the command, scalar 0 is the lease (0 if nothing was found) and scalar 1 the
 * time until it expires, ns.
 *
 * @param index which of the names asked for
 * @param origin 1 local, 2 peer
 * @param arena index of the arena that holds it
 * @param offset where it begins there, bytes
 * @param bytes its length
 * @param generation of its allocation
 */
public record ReadEntry(
    long index, int origin, long arena, long offset, long bytes, long generation) {
  /** Wire number of a block that was in this Manager's memory. */
  public static final int ORIGIN_LOCAL = 1;

  /** Wire number of a block that was fetched for this read. */
  public static final int ORIGIN_PEER = 2;

  /** Encoded length of one. */
  public static final int BYTES = 40;

  /** Encodes the descriptor. */
  public static byte[] encode(List<ReadEntry> entries) {
    byte[] encoded = new byte[Math.addExact(8, Math.multiplyExact(entries.size(), BYTES))];
    Cursor to = new Cursor("read", MemorySegment.ofArray(encoded));
    to.putU32(entries.size()).putU32(0);
    for (ReadEntry entry : entries) {
      to.putU32(entry.index).putU16(entry.origin).putU16(0).putU32(entry.arena).putU32(0);
      to.putU64(entry.offset).putU64(entry.bytes).putU64(entry.generation);
    }
    return encoded;
  }

  /**
   * Decodes the descriptor; numbers are not checked against anything.
   *
   * @throws io.orbitkv.api.TransportException INVALID if it breaks the layout or the limit
   */
  public static List<ReadEntry> decode(Cursor from) {
    int count = from.count(Names.LIMIT, BYTES);
    from.skip(4);
    List<ReadEntry> entries = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      long index = from.u32();
      int origin = from.u16();
      from.skip(2);
      long arena = from.u32();
      from.skip(4);
      entries.add(new ReadEntry(index, origin, arena, from.u64(), from.u64(), from.u64()));
    }
    from.end();
    return entries;
  }
}
