package io.orbitkv.adapter.wire;

import io.orbitkv.adapter.BlockName;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * One block in the descriptor of a {@link Opcode#PUBLISH}, which is a u32 count, a u32 that is 0,
 * then for each block: u64 registration, u64 generation, u64 offset, u64 bytes, and its name as in
 * {@link Names}.
 *
 * @param name the block's name
 * @param registration id of registered engine memory of this session
 * @param generation of that registration, so that a queued block can not bind to a later one
 * @param offset where the block begins in it, bytes
 * @param bytes its length
 */
public record PublishEntry(
    BlockName name, long registration, long generation, long offset, long bytes) {
  /** The most blocks in one publish. */
  public static final int LIMIT = 16_384;

  private static final int FIXED_BYTES = 32;

  /** Encodes the descriptor. */
  public static byte[] encode(List<PublishEntry> entries) {
    byte[][] names = new byte[entries.size()][];
    int bytes = 8;
    for (int i = 0; i < names.length; i++) {
      names[i] = Names.one(entries.get(i).name);
      bytes = Math.addExact(bytes, FIXED_BYTES + names[i].length);
    }
    byte[] encoded = new byte[bytes];
    Cursor to = new Cursor("publish", MemorySegment.ofArray(encoded));
    to.putU32(names.length).putU32(0);
    for (int i = 0; i < names.length; i++) {
      PublishEntry entry = entries.get(i);
      to.putU64(entry.registration).putU64(entry.generation);
      to.putU64(entry.offset).putU64(entry.bytes).putBytes(names[i]);
    }
    return encoded;
  }

  /**
   * Decodes the descriptor; numbers are not checked against anything.
   *
   * @throws io.orbitkv.api.TransportException INVALID if it breaks the layout or the limit
   */
  public static List<PublishEntry> decode(Cursor from) {
    int count = from.count(LIMIT, FIXED_BYTES + Names.LEAST_BYTES);
    from.skip(4);
    List<PublishEntry> entries = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      long registration = from.u64();
      long generation = from.u64();
      long offset = from.u64();
      long bytes = from.u64();
      entries.add(new PublishEntry(Names.read(from), registration, generation, offset, bytes));
    }
    from.end();
    return entries;
  }
}
