package io.orbitkv.manager;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The pool of a Manager of this process as the kernel shows it, so that a test can do to it what
 * failing memory does: behind the back of everybody.
 *
 * @param start address of its mapping
 * @param end behind it
 */
record ArenaMemory(long start, long end) {
  private static final Path MEMORY = Path.of("/proc/self/mem");

  /** Those of all Managers that live in this process. */
  static List<ArenaMemory> all() {
    List<ArenaMemory> found = new ArrayList<>();
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
        if (line.contains(" rw-s ") && line.contains("orbitkv-arena")) {
          String[] range = line.substring(0, line.indexOf(' ')).split("-", -1);
          found.add(new ArenaMemory(Long.parseLong(range[0], 16), Long.parseLong(range[1], 16)));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  /** Inverts one bit of a block, which is found by its bytes. */
  void flip(byte[] block, int at) {
    try (FileChannel memory =
        FileChannel.open(MEMORY, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      byte[] all = new byte[(int) (end - start)];
      memory.read(ByteBuffer.wrap(all), start);
      for (int offset = 0; offset + block.length <= all.length; offset += 4096) {
        if (Arrays.equals(all, offset, offset + block.length, block, 0, block.length)) {
          byte[] changed = {(byte) (block[at] ^ 0x40)};
          memory.write(ByteBuffer.wrap(changed), start + offset + at);
          return;
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw new AssertionError("the block is not in this pool");
  }
}
