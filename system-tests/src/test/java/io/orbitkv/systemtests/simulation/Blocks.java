package io.orbitkv.systemtests.simulation;

import io.orbitkv.adapter.BlockName;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** The blocks of the simulated world: each name has one length and one content. */
final class Blocks {
  private static final int COUNT = 8;
  private static final byte PROBE = 13;

  /** Length of the longest, bytes: two pages. */
  static final long LONGEST = 4960;

  private static final long[] LENGTHS = {64, 96, 64, LONGEST, 128};
  private static final List<BlockName> NAMES = names();

  private Blocks() {}

  private static List<BlockName> names() {
    List<BlockName> names = new ArrayList<>();
    for (int i = 0; i < COUNT; i++) {
      names.add(BlockName.of("sim", new byte[] {(byte) i}));
    }
    return List.copyOf(names);
  }

  static List<BlockName> names(Chance chance, int atMost) {
    int count = 1 + chance.below(atMost);
    int first = chance.below(COUNT);
    List<BlockName> picked = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      picked.add(NAMES.get((first + i) % COUNT));
    }
    return picked;
  }

  /** A name that no engine uses, of a block of the greatest length. */
  static BlockName probe() {
    return BlockName.of("sim", new byte[] {PROBE});
  }

  static long bytes(BlockName name) {
    return LENGTHS[number(name) % LENGTHS.length];
  }

  /** Writes the part of a block from {@code from} to below {@code to}, multiples of 8. */
  static void fill(BlockName name, MemorySegment block, long from, long to) {
    for (long at = from; at < to; at += 8) {
      block.set(ValueLayout.JAVA_LONG_UNALIGNED, at, word(name, at));
    }
  }

  /** Whether that part of a block has the content of its name. */
  static boolean right(BlockName name, MemorySegment block, long from, long to) {
    for (long at = from; at < to; at += 8) {
      if (block.get(ValueLayout.JAVA_LONG_UNALIGNED, at) != word(name, at)) {
        return false;
      }
    }
    return true;
  }

  private static int number(BlockName name) {
    return name.hash()[0];
  }

  private static long word(BlockName name, long at) {
    return (number(name) + 1) * 0x9E3779B97F4A7C15L + at * 0xD1B54A32D192ED03L;
  }
}
