package io.orbitkv.adapter.plan;

import io.orbitkv.adapter.wire.Cursor;
import io.orbitkv.adapter.wire.SharedMapping;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.Protection;
import java.lang.foreign.MemorySegment;
import java.util.function.BiFunction;

/** Makes the memory of plans and of claims, at the Manager, and maps it, at an engine. */
public final class PlanMemory {
  /** What the Manager has of one; both are the caller's to close. */
  public record Made(Mapping mapping, Fd memfd) {}

  private static final int SIZE_SEALS = Memfd.F_SEAL_SHRINK | Memfd.F_SEAL_GROW | Memfd.F_SEAL_SEAL;

  private PlanMemory() {}

  /**
   * New memory for the plans of an instance, writable by this mapping only.
   *
   * @throws io.orbitkv.ffm.NativeException if memory or descriptors are short; nothing is left open
   */
  public static Made createPlans(Epoch epoch) {
    return create(
        "orbitkv-plans",
        PlanLayout.BYTES,
        (memfd, bytes) -> {
          Mapping mapping = Mapping.map(memfd, 0, bytes, Protection.READ_WRITE, false);
          Memfd.addSeals(memfd, SIZE_SEALS | Memfd.F_SEAL_FUTURE_WRITE);
          new Cursor("plans", mapping.segment())
              .putU32(PlanLayout.MAGIC)
              .putU32(PlanLayout.VERSION)
              .putEpoch(epoch);
          return mapping;
        });
  }

  /**
   * New memory for the claims of a session, read-only by this mapping.
   *
   * @throws io.orbitkv.ffm.NativeException if memory or descriptors are short; nothing is left open
   */
  public static Made createClaims() {
    return create(
        "orbitkv-claims",
        PlanLayout.CLAIM_BYTES,
        (memfd, bytes) -> {
          Memfd.addSeals(memfd, SIZE_SEALS);
          return Mapping.map(memfd, 0, bytes, Protection.READ, false);
        });
  }

  private static Made create(String name, long bytes, BiFunction<Fd, Long, Mapping> map) {
    Fd memfd = Memfd.create(name, bytes);
    Mapping mapping = null;
    boolean done = false;
    try {
      mapping = map.apply(memfd, bytes);
      mapping.dontFork();
      done = true;
      return new Made(mapping, memfd);
    } finally {
      if (!done) {
        if (mapping != null) {
          mapping.close();
        }
        memfd.close();
      }
    }
  }

  /**
   * Maps the plans that came with WELCOME, for reading; they stay out of children made by fork.
   *
   * @param memfd stays the caller's
   * @throws TransportException UNSUPPORTED for another layout, CORRUPT if the memfd can not keep it
   */
  public static SharedMapping attachPlans(Fd memfd, long version, long bytes) {
    check("plans", memfd, version == PlanLayout.VERSION && bytes == PlanLayout.BYTES, bytes);
    return attach(memfd, bytes, Protection.READ);
  }

  /**
   * Maps a session's claims, for reading and writing; they stay out of children made by fork.
   *
   * @param memfd stays the caller's
   * @throws TransportException UNSUPPORTED for another layout, CORRUPT if the memfd can not keep it
   */
  public static SharedMapping attachClaims(Fd memfd, long version, long bytes) {
    boolean known = version == PlanLayout.CLAIMS_VERSION && bytes == PlanLayout.CLAIM_BYTES;
    check("claims", memfd, known, bytes);
    return attach(memfd, bytes, Protection.READ_WRITE);
  }

  private static SharedMapping attach(Fd memfd, long bytes, Protection protection) {
    Mapping mapping = Mapping.map(memfd, 0, bytes, protection, false);
    boolean done = false;
    try {
      mapping.dontFork();
      done = true;
      return new SharedMapping(mapping);
    } finally {
      if (!done) {
        mapping.close();
      }
    }
  }

  private static void check(String what, Fd memfd, boolean known, long bytes) {
    if (!known) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          what
              + " of another layout, "
              + bytes
              + " bytes; use the same release of OrbitKV on both sides");
    }
    if ((Memfd.seals(memfd) & Memfd.F_SEAL_SHRINK) == 0 || Memfd.size(memfd) < bytes) {
      throw new TransportException(
          FaultCode.CORRUPT, what + " of WELCOME are short or not sealed against shrinking");
    }
  }

  /** The bytes of a record, for a {@link Cursor}. */
  public static Cursor record(MemorySegment plans, int record) {
    return new Cursor(
        "record " + record, plans.asSlice(PlanLayout.record(record), PlanLayout.RECORD_BYTES));
  }

  /** The bytes of blocks of the bank; throws if they leave it. */
  public static Cursor blocks(MemorySegment plans, long first, long count) {
    if (first < 0 || count < 0 || first > PlanLayout.BLOCKS - count) {
      throw new TransportException(
          FaultCode.CORRUPT, count + " blocks at " + first + " leave the plan bank");
    }
    long bytes = count * PlanLayout.BLOCK_BYTES;
    long offset = count == 0 ? 0 : PlanLayout.block((int) first);
    return new Cursor("plan bank", plans.asSlice(offset, bytes));
  }
}
