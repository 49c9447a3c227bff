package io.orbitkv.ffm;

/** What a mapping allows. */
public enum Protection {
  /** Loads only. */
  READ(MemoryCalls.PROT_READ),
  /** Loads and stores. */
  READ_WRITE(MemoryCalls.PROT_READ | MemoryCalls.PROT_WRITE);

  final int bits;

  Protection(int bits) {
    this.bits = bits;
  }
}
