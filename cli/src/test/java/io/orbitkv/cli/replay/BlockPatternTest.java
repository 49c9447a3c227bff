package io.orbitkv.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockName;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockPatternTest {
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static BlockName name(String namespace, String hash) {
    return BlockName.of(namespace, hash.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void theWordsAreTheSplitMix64Stream() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment block = arena.allocate(24);

      BlockPattern.ofKey(1234567).fill(block);

      // The published test vector of SplitMix64 for the seed 1234567.
      assertThat(block.get(WORD, 0)).isEqualTo(Long.parseUnsignedLong("6457827717110365317"));
      assertThat(block.get(WORD, 8)).isEqualTo(Long.parseUnsignedLong("3203168211198807973"));
      assertThat(block.get(WORD, 16)).isEqualTo(Long.parseUnsignedLong("9817491932198370423"));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 7, 8, 9, 4095, 32768, 32771, 200_001, 2 << 20})
  void whatWasFilledMatchesAndEveryFlippedByteIsFound(long bytes) {
    long seed = System.nanoTime();
    System.out.println("BlockPatternTest seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    BlockPattern pattern = BlockPattern.of(seed, name("model", "hash"));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment block = arena.allocate(bytes + 1).asSlice(1);
      pattern.fill(block);
      assertThat(pattern.countMismatches(block)).isZero();

      flip(block, 0, pattern);
      flip(block, bytes - 1, pattern);
      for (int i = 0; i < 50; i++) {
        flip(block, random.nextLong(bytes), pattern);
      }

      long nonZero = 0;
      for (long at = 0; at < bytes; at++) {
        nonZero += block.get(ValueLayout.JAVA_BYTE, at) == 0 ? 0 : 1;
      }
      block.fill((byte) 0);
      assertThat(pattern.countMismatches(block)).isEqualTo(nonZero);
    }
  }

  private static void flip(MemorySegment block, long at, BlockPattern pattern) {
    byte before = block.get(ValueLayout.JAVA_BYTE, at);
    block.set(ValueLayout.JAVA_BYTE, at, (byte) (before ^ 0x10));
    assertThat(pattern.countMismatches(block)).as("byte %d flipped", at).isEqualTo(1);
    block.set(ValueLayout.JAVA_BYTE, at, before);
  }

  @Test
  void theSeedAndEveryPartOfTheNameCount() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment block = arena.allocate(4096);
      BlockPattern.of(1, name("ab", "c")).fill(block);

      assertThat(BlockPattern.of(1, name("ab", "c")).countMismatches(block)).isZero();
      assertThat(BlockPattern.of(2, name("ab", "c")).countMismatches(block)).isGreaterThan(3000);
      assertThat(BlockPattern.of(1, name("ab", "d")).countMismatches(block)).isGreaterThan(3000);
      assertThat(BlockPattern.of(1, name("a", "bc")).countMismatches(block)).isGreaterThan(3000);
      assertThat(BlockPattern.of(1, name("", "abc")).countMismatches(block)).isGreaterThan(3000);
    }
  }

  @Test
  void aBlockShiftedByOneWordOrByHalfIsFound() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment block = arena.allocate(8192);
      BlockPattern pattern = BlockPattern.of(1, name("a", "b"));
      pattern.fill(block);

      assertThat(pattern.countMismatches(block.asSlice(8))).isGreaterThan(8000);
      assertThat(pattern.countMismatches(block.asSlice(4096))).isGreaterThan(4000);
    }
  }
}
