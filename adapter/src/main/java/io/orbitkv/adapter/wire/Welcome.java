package io.orbitkv.adapter.wire;

import io.orbitkv.api.Epoch;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Body of {@link FrameKind#WELCOME}. Fields: 1 protocol version (u64), 2 Manager epoch (16 raw
 * bytes), 3 session token (u64), 4 slot (u64), 5 one arena (u64 access mode, u64 length), repeated
 * in the order of their index; the frame carries as many memfds in the same order. Unknown fields
 * are skipped.
 *
 * @param version of the protocol
 * @param epoch the Manager's incarnation
 * @param session token of this session, not 0
 * @param slot exclusive to this session while it lives, from 0
 * @param arenas what the client may map
 */
public record Welcome(long version, Epoch epoch, long session, long slot, List<ArenaOffer> arenas) {
  /**
   * One arena.
   *
   * @param access {@link #READ_ONLY}
   * @param bytes its length
   */
  public record ArenaOffer(long access, long bytes) {}

  /** Access mode: an engine may read. */
  public static final long READ_ONLY = 1;

  private static final int VERSION = 1;
  private static final int EPOCH = 2;
  private static final int SESSION = 3;
  private static final int SLOT = 4;
  private static final int ARENA = 5;

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
      byte[] value = new byte[16];
      new Cursor("arena", MemorySegment.ofArray(value)).putU64(arena.access).putU64(arena.bytes);
      fields.add(ARENA, value);
    }
    return fields.body();
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
    for (Fields.Field field : Fields.read("WELCOME", body)) {
      Cursor value = field.value();
      switch (field.type()) {
        case VERSION -> version = value.u64();
        case EPOCH -> epoch = value.epoch();
        case SESSION -> session = value.u64();
        case SLOT -> slot = value.u64();
        case ARENA -> arenas.add(new ArenaOffer(value.u64(), value.u64()));
        default -> {
          continue;
        }
      }
      value.end();
    }
    if (version == 0 || epoch.equals(Epoch.NONE) || session == 0 || slot < 0) {
      throw new Cursor("WELCOME", body).refused("version, epoch, session or slot is missing");
    }
    return new Welcome(version, epoch, session, slot, List.copyOf(arenas));
  }
}
