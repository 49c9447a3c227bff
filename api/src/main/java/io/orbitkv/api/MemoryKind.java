package io.orbitkv.api;

/**
 * Where a region's bytes are.
 *
 * @param type host memory or a device's
 * @param device the device's ordinal; -1 for host memory
 */
public record MemoryKind(Type type, int device) {
  /** The kinds of memory that a region can be in. */
  public enum Type {
    /** Memory of the host, addressable by its processors. */
    HOST,
    /** Memory of a CUDA device, addressable by the host only through the driver. */
    CUDA
  }

  /** Host memory. */
  public static final MemoryKind HOST = new MemoryKind(Type.HOST, -1);

  /** Checks the pair. */
  public MemoryKind {
    if ((type == Type.HOST) != (device == -1) || device < -1) {
      throw new IllegalArgumentException(type + " memory can not be on device " + device);
    }
  }

  /** Memory of the CUDA device with this ordinal. */
  public static MemoryKind cuda(int device) {
    return new MemoryKind(Type.CUDA, device);
  }
}
