package io.orbitkv.systemtests.rig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The pool of another process's Manager, changed behind its back as failing memory changes it. Its
 * memfd can not be written by anybody else (F_SEAL_FUTURE_WRITE); what is left is the mapping that
 * the Manager has of it, which the kernel lets its parent write as a debugger does.
 */
public final class PoolMemory {
  private static final int CHUNK_BYTES = 1 << 20;
  private static final int PAGE_BYTES = 4096;

  private PoolMemory() {}

  /**
   * Inverts one bit of a page wherever it lies in the Manager's pool.
   *
   * @param at which byte of the page
   */
  public static void flip(ManagerProcess manager, Page page, int at) {
    Path process = Path.of("/proc/" + manager.pid());
    try (FileChannel memory =
            FileChannel.open(
                process.resolve("mem"), StandardOpenOption.READ, StandardOpenOption.WRITE);
        Arena arena = Arena.ofConfined()) {
      MemorySegment expected = arena.allocate(page.bytes(), 64);
      page.fill(expected);
      for (String line : Files.readAllLines(process.resolve("maps"))) {
        if (line.contains(" rw-s ") && line.contains("orbitkv-arena")) {
          String[] range = line.substring(0, line.indexOf(' ')).split("-", -1);
          long start = Long.parseLong(range[0], 16);
          long found = find(memory, start, Long.parseLong(range[1], 16), expected);
          if (found >= 0) {
            ByteBuffer one = ByteBuffer.allocate(1);
            memory.read(one, found + at);
            one.put(0, (byte) (one.get(0) ^ 0x08)).flip();
            memory.write(one, found + at);
            return;
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("changing memory of " + manager, e);
    }
    throw new AssertionError(page + " is not in the pool of " + manager);
  }

  /** Pages begin at pages of the memory; the first bytes of one are of no other one. */
  private static long find(FileChannel memory, long start, long end, MemorySegment expected)
      throws IOException {
    ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_BYTES);
    MemorySegment bytes = MemorySegment.ofBuffer(chunk);
    MemorySegment first = expected.asSlice(0, Math.min(expected.byteSize(), PAGE_BYTES));
    for (long at = start; at < end; at += CHUNK_BYTES) {
      chunk.clear().limit((int) Math.min(CHUNK_BYTES, end - at));
      int read = memory.read(chunk, at);
      for (long offset = 0; offset + first.byteSize() <= read; offset += PAGE_BYTES) {
        if (bytes.asSlice(offset, first.byteSize()).mismatch(first) < 0) {
          return at + offset;
        }
      }
    }
    return -1;
  }
}
