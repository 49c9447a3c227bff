package io.orbitkv.manager.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class DigestTest {
  private static final int STEP = 256 << 10;

  private final long seed = System.nanoTime();

  @Test
  void itIsTheCastagnoliChecksum() {
    byte[] check = "123456789".getBytes(StandardCharsets.US_ASCII);
    assertThat(Digest.of(MemorySegment.ofArray(check))).isEqualTo(new Digest(0xe3069283));
  }

  // Guard: the steps of Digest cover each byte once, and the copy is whole.
  @Test
  void itCoversEveryByteOfEveryLength() {
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int bytes : new int[] {1, 7, STEP - 1, STEP, STEP + 1, 3 * STEP + 5}) {
      byte[] source = new byte[bytes];
      random.nextBytes(source);
      CRC32C crc = new CRC32C();
      crc.update(source);
      Digest whole = new Digest((int) crc.getValue());
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment to = arena.allocate(bytes + 64L);
        assertThat(Digest.ofCopy(MemorySegment.ofArray(source), to)).isEqualTo(whole);
        MemorySegment copy = to.asSlice(0, bytes);
        assertThat(copy.mismatch(MemorySegment.ofArray(source))).isEqualTo(-1);
        assertThat(Digest.of(copy)).isEqualTo(whole);
        int at = random.nextInt(bytes);
        copy.set(ValueLayout.JAVA_BYTE, at, (byte) (copy.get(ValueLayout.JAVA_BYTE, at) ^ 4));
        assertThat(Digest.of(copy))
            .as("byte %d of %d, seed %d", at, bytes, seed)
            .isNotEqualTo(whole);
      }
    }
  }
}
