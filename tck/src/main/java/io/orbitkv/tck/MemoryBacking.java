package io.orbitkv.tck;

import io.orbitkv.api.MemoryKind;
import java.lang.foreign.MemorySegment;

/** Memory of one kind that the kit fills and reads; owned by the kit, used by any thread. */
public interface MemoryBacking extends AutoCloseable {
  /** Host or device. */
  MemoryKind kind();

  /** The memory as a region has it; of a device, address and length only. */
  MemorySegment segment();

  /** The file behind it, -1 if there is none; the memory begins at its offset 0. */
  int fd();

  /** Copies host bytes into it, to {@code at}, bytes from its start. */
  void store(long at, MemorySegment from);

  /** Copies from it, from {@code at}, bytes from its start, into host memory. */
  void load(long at, MemorySegment to);

  /** Frees it. */
  @Override
  void close();
}
