package io.orbitkv.adapter.plan;

import java.util.Objects;

/**
 * Where everything lies in the memory of an instance's plans, and in a session's claims. All
 * numbers are little-endian, all offsets in bytes.
 *
 * <pre>
 *       0  u32 magic "OKVP"   4  u32 layout version   8  16 bytes Manager epoch
 *    4096  1,024 records of 192 bytes
 *  200704  plan bank: 32,768 blocks of 32 bytes
 * 1249280  end
 * </pre>
 */
public final class PlanLayout {
  /** Version of the layout of the plans. */
  public static final int VERSION = 1;

  /** Version of the layout of the claims. */
  public static final int CLAIMS_VERSION = 1;

  /** First four bytes of the plans, "OKVP". */
  public static final int MAGIC = 0x50564b4f;

  /** Records of an instance. */
  public static final int RECORDS = 1024;

  /** Bytes of a record. */
  public static final int RECORD_BYTES = 192;

  /** Blocks that the bank holds. */
  public static final int BLOCKS = 32_768;

  /** Bytes of a block in the bank. */
  public static final int BLOCK_BYTES = 32;

  /** Bytes of the plans. */
  public static final long BYTES = 1_249_280;

  /** Bytes of a session's claims: a word a record. */
  public static final long CLAIM_BYTES = RECORDS * 8L;

  private static final long FIRST_RECORD = 4096;
  private static final long BANK = 200_704;

  private PlanLayout() {}

  /** Where a record lies; it begins with the Manager's word. */
  public static long record(int record) {
    return FIRST_RECORD + (long) Objects.checkIndex(record, RECORDS) * RECORD_BYTES;
  }

  /** Where a block of the bank lies. */
  public static long block(int block) {
    return BANK + (long) Objects.checkIndex(block, BLOCKS) * BLOCK_BYTES;
  }

  /** Where a session's word of a record lies in its claims. */
  public static long claim(int record) {
    return Objects.checkIndex(record, RECORDS) * 8L;
  }
}
