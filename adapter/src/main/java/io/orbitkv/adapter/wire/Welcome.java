package io.orbitkv.adapter.wire;

import io.orbitkv.api.Epoch;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Body of {@link FrameKind#WELCOME}. Fields: 1 protocol version (u64), 2 Manager epoch (16 raw
 * bytes), 3 session token (u64), 4 slot (u64), 5 one arena (u64 access mode, u64 length), repeated
 * in the order of their index, 6 the ring (u64 version of its layout, u64 length), 7 the plans (u64
 * version of their layout, u64 length, u64 first generation), 8 the claims (u64 version of their
 * layout, u64 length). The frame carries a memfd per arena in the same order, then the ring's
 * memfd, the event of the requests and the event of the answers, the memfd of the plans and that of
 * the claims. Unknown fields are skipped.
 *
 * @param version of the protocol
 * @param epoch the Manager's incarnation
 * @param session token of this session, not 0
 * @param slot exclusive to this session while it lives, from 0
 * @param arenas what the client may map
 * @param ring what carries the commands
 * @param plans what the engine instance may copy
 * @param claims what this session says of plans
 */
public record Welcome(
    long version,
    Epoch epoch,
    long session,
    long slot,
    List<ArenaOffer> arenas,
    RingOffer ring,
    PlansOffer plans,
    ClaimsOffer claims) {
  /**
   * The ring.
   *
   * @param version of its layout
   * @param bytes its length
   */
  public record RingOffer(long version, long bytes) {}

  /**
   * The plans of the instance.
   *
   * @param version of their layout
   * @param bytes their length
   * @param firstGeneration the first plan that this session may claim
   */
  public record PlansOffer(long version, long bytes, long firstGeneration) {}

  /**
   * The claims of the session.
   *
   * @param version of their layout
   * @param bytes their length
   */
  public record ClaimsOffer(long version, long bytes) {}

  /**
   * One arena.
   *
   * @param access {@link #READ_ONLY}
   * @param bytes its length
   */
  public record ArenaOffer(long access, long bytes) {}

  /** Descriptors that follow those of the arenas. */
  public static final int SESSION_DESCRIPTORS = 5;

  /** How many of those are the ring's; the plans and the claims follow. */
  public static final int RING_DESCRIPTORS = 3;

  /** Access mode: an engine may read. */
  public static final long READ_ONLY = 1;

  private static final int VERSION = 1;
  private static final int EPOCH = 2;
  private static final int SESSION = 3;
  private static final int SLOT = 4;
  private static final int ARENA = 5;
  private static final int RING = 6;
  private static final int PLANS = 7;
  private static final int CLAIMS = 8;

  /** The body. */
  public MemorySegment encode() {
    byte[] raw = new byte[Epoch.BYTES];
    new Cursor("epoch", MemorySegment.ofArray(raw)).putEpoch(epoch);
    Fields fields =
        new Fields()
            .addU64(VERSION, version)
            .add(EPOCH, raw)
            .addU64(SESSION, session)
            .addU64(SLOT, slot);
    for (ArenaOffer arena : arenas) {
      fields.add(ARENA, numbers(arena.access, arena.bytes));
    }
    return fields
        .add(RING, numbers(ring.version, ring.bytes))
        .add(PLANS, numbers(plans.version, plans.bytes, plans.firstGeneration))
        .add(CLAIMS, numbers(claims.version, claims.bytes))
        .body();
  }

  private static byte[] numbers(long... numbers) {
    byte[] value = new byte[numbers.length * 8];
    Cursor cursor = new Cursor("numbers", MemorySegment.ofArray(value));
    for (long number : numbers) {
      cursor.putU64(number);
    }
    return value;
  }

  /**
   * Reads the body.
   *
   * @throws io.orbitkv.api.TransportException INVALID
   */
  public static Welcome decode(MemorySegment body) {
    long version = 0;
    Epoch epoch = Epoch.NONE;
    long session = 0;
    long slot = -1;
    List<ArenaOffer> arenas = new ArrayList<>();
    RingOffer ring = new RingOffer(0, 0);
    PlansOffer plans = new PlansOffer(0, 0, 0);
    ClaimsOffer claims = new ClaimsOffer(0, 0);
    for (Fields.Field field : Fields.read("WELCOME", body)) {
      Cursor value = field.value();
      switch (field.type()) {
        case VERSION -> version = value.u64();
        case EPOCH -> epoch = value.epoch();
        case SESSION -> session = value.u64();
        case SLOT -> slot = value.u64();
        case ARENA -> arenas.add(new ArenaOffer(value.u64(), value.u64()));
        case RING -> ring = new RingOffer(value.u64(), value.u64());
        case PLANS -> plans = new PlansOffer(value.u64(), value.u64(), value.u64());
        case CLAIMS -> claims = new ClaimsOffer(value.u64(), value.u64());
        default -> {
          continue;
        }
      }
      value.end();
    }
    if (version == 0 || epoch.equals(Epoch.NONE) || session == 0 || slot < 0 || ring.bytes <= 0) {
      throw new Cursor("WELCOME", body).refused("version, epoch, session, slot or ring is missing");
    }
    if (plans.bytes <= 0 || claims.bytes <= 0) {
      throw new Cursor("WELCOME", body).refused("plans or claims are missing");
    }
    return new Welcome(version, epoch, session, slot, List.copyOf(arenas), ring, plans, claims);
  }
}
