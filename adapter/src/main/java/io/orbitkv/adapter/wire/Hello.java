package io.orbitkv.adapter.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;

/**
 * Body of {@link FrameKind#HELLO}. Fields: 1 instance id (UTF-8, 1 to 64 bytes), 2 role (u64), 3
 * can fence (u64), 4 device copies (u64); 3 and 4 may be absent. Unknown fields are skipped; 1 or 2
 * that comes twice, or not at all, is refused.
 *
 * @param instance the engine instance that the process belongs to
 * @param role wire number of a {@link io.orbitkv.adapter.Role}; others may come
 * @param fences whether the client orders a store before a later load by itself
 * @param deviceCopies whether its copies may be a device's, which outlive the process
 */
public record Hello(String instance, long role, boolean fences, boolean deviceCopies) {
  private static final int INSTANCE = 1;
  private static final int ROLE = 2;
  private static final int FENCES = 3;
  private static final int DEVICE_COPIES = 4;
  private static final int INSTANCE_LIMIT = 64;

  /** That of a client that fences, and copies to host memory. */
  public Hello(String instance, long role) {
    this(instance, role, true, false);
  }

  /** The body. */
  public MemorySegment encode() {
    return new Fields()
        .add(INSTANCE, instance.getBytes(UTF_8))
        .addU64(ROLE, role)
        .addU64(FENCES, fences ? 1 : 0)
        .addU64(DEVICE_COPIES, deviceCopies ? 1 : 0)
        .body();
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
    boolean fences = false;
    boolean deviceCopies = false;
    for (Fields.Field field : Fields.read("HELLO", body)) {
      Cursor value = field.value();
      switch (field.type()) {
        case INSTANCE -> {
          if (!instance.isEmpty() || value.remaining() == 0 || value.remaining() > INSTANCE_LIMIT) {
            throw whole.refused("instance id twice, or not of 1 to " + INSTANCE_LIMIT + " bytes");
          }
          instance = value.text((int) value.remaining());
        }
        case ROLE -> {
          if (role != 0) {
            throw whole.refused("role twice");
          }
          role = value.u64();
          value.end();
        }
        case FENCES -> fences = value.u64() == 1;
        case DEVICE_COPIES -> deviceCopies = value.u64() != 0;
        default -> {}
      }
    }
    if (instance.isEmpty() || role <= 0) {
      throw whole.refused("instance id or role is missing");
    }
    return new Hello(instance, role, fences, deviceCopies);
  }
}
