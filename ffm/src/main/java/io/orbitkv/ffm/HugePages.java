package io.orbitkv.ffm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The size of a huge page that shared memory can be made of. */
final class HugePages {
  private static final Path SIZE = Path.of("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
  private static final long BYTES = read();

  private HugePages() {}

  /** Bytes in one, a power of two; 0 if this kernel has none. */
  static long bytes() {
    return BYTES;
  }

  private static long read() {
    try {
      long bytes = Long.parseLong(Files.readString(SIZE).strip());
      return bytes > PageSize.bytes() && Long.bitCount(bytes) == 1 ? bytes : 0;
    } catch (IOException | NumberFormatException _) {
      return 0;
    }
  }
}
