package io.orbitkv.provider.tcp;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/** The CRC32C of the payload of one reply, piece after piece. One thread at a time. */
final class Checksum implements Destination.Pieces {
  private final CRC32C sum = new CRC32C();

  void reset() {
    sum.reset();
  }

  /** Reads a range of native memory of less than 2 GiB; it stays mapped meanwhile. */
  @Override
  public void add(MemorySegment memory, long offset, long bytes) {
    sum.update(memory.asSlice(offset, bytes).asByteBuffer());
  }

  /** Of all that was added since the reset. */
  int value() {
    return (int) sum.getValue();
  }
}
