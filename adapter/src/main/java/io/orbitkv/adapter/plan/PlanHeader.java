package io.orbitkv.adapter.plan;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.orbitkv.adapter.wire.Cursor;
import io.orbitkv.adapter.wire.Text;

/**
 * What a record says besides its word: from byte 8 on u64 generation, u32 first block, u32 count,
 * u64 bytes, u32 kind, u32 redeemers, u32 slot, u32 0, u16 length of the text, six bytes 0, the
 * text.
 *
 * @param generation of the plan
 * @param first where its blocks begin in the bank
 * @param count how many blocks
 * @param bytes of all of them
 * @param kind {@link #PROMISE} or {@link #RESTORE}
 * @param redeemers how many sessions are to redeem it
 * @param slot of the session that asked
 */
public record PlanHeader(
    long generation, long first, long count, long bytes, long kind, long redeemers, long slot) {
  /** A plan told to the instance, pinned without expiry. */
  public static final long PROMISE = 1;

  /** A plan for blocks of a lease. */
  public static final long RESTORE = 2;

  private static final int GENERATION = 8;
  private static final int TEXT_LENGTH = 48;

  /** Writes it behind the word of a record, with an empty text. */
  public void encode(Cursor record) {
    record.skip(GENERATION);
    record.putU64(generation).putU32(first).putU32(count).putU64(bytes).putU32(kind);
    record.putU32(redeemers).putU32(slot).putU32(0).putU64(0);
  }

  /** Reads it; its numbers are not checked. */
  public static PlanHeader decode(Cursor record) {
    record.skip(GENERATION);
    return new PlanHeader(
        record.u64(),
        record.u32(),
        record.u32(),
        record.u64(),
        record.u32(),
        record.u32(),
        record.u32());
  }

  /** Writes why a plan was revoked, or ended without every byte in place; cut to what fits. */
  public static void encodeText(Cursor record, String text) {
    byte[] cut = Text.cut(text, Text.RECORD_BYTES);
    record.skip(TEXT_LENGTH);
    record.putU16(cut.length);
    record.skip(6);
    record.putBytes(cut);
  }

  /** Reads the text; empty if there is none, or it is being written. */
  public static String decodeText(Cursor record) {
    record.skip(TEXT_LENGTH);
    int length = Math.min(record.u16(), Text.RECORD_BYTES);
    record.skip(6);
    return new String(record.bytes(length), UTF_8);
  }
}
