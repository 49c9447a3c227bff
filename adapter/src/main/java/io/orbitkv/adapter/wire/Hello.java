package io.orbitkv.adapter.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;

/**
 * Body of {@link FrameKind#HELLO}. Fields: 1 instance id (UTF-8, 1 to 64 bytes), 2 role (u64).
 * Unknown fields are skipped; a known one that comes twice, or not at all, is refused.
 *
 * @param instance the engine instance that the process belongs to
 * @param role wire number of a {@link io.orbitkv.adapter.Role}; others may come
 */
public record Hello(String instance, long role) {
  private static final int INSTANCE = 1;
  private static final int ROLE = 2;
  private static final int INSTANCE_LIMIT = 64;

  /** The body. */
  public MemorySegment encode() {
    return new Fields().add(INSTANCE, instance.getBytes(UTF_8)).addU64(ROLE, role).body();
  }

  /**
   * Reads the body.
   *
   * @throws io.orbitkv.api.TransportException INVALID
   */
  public static Hello decode(MemorySegment body) {
    Cursor whole = new Cursor("HELLO", body);
    String instance = "";
    long role = 0;
    for (Fields.Field field : Fields.read("HELLO", body)) {
      Cursor value = field.value();
      if (field.type() == INSTANCE) {
        if (!instance.isEmpty() || value.remaining() == 0 || value.remaining() > INSTANCE_LIMIT) {
          throw whole.refused("instance id twice, or not of 1 to " + INSTANCE_LIMIT + " bytes");
        }
        instance = value.text((int) value.remaining());
      } else if (field.type() == ROLE) {
        if (role != 0) {
          throw whole.refused("role twice");
        }
        role = value.u64();
        value.end();
      }
    }
    if (instance.isEmpty() || role <= 0) {
      throw whole.refused("instance id or role is missing");
    }
    return new Hello(instance, role);
  }
}
