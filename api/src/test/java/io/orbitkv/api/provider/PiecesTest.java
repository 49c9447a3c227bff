package io.orbitkv.api.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RemoteDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PiecesTest {
  private static final int ROUNDS = 5_000;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final ImportedGrant source = new TwoEnds().source();

  // Guard: the stride in either of the two sums of Pieces.forEach.
  @Test
  void runsAreTheBytesOfBothEndsInOrder() {
    System.out.println("seed " + seed);
    for (int round = 0; round < ROUNDS; round++) {
      int bytes = 1 + random.nextInt(24);
      int[] to = shape(bytes);
      int[] from = shape(bytes);
      Descriptor local = new Descriptor(new RegionId(1, 1), 3, to[0], to[0] + to[2], to[1]);
      RemoteDescriptor remote = new RemoteDescriptor(0, 5, from[0], from[0] + from[2], from[1]);
      Batch batch = Batch.from(source).add(local, remote).build();
      List<Long> moved = new ArrayList<>();
      Pieces.forEach(
          batch,
          0,
          (at, into, length) -> {
            assertThat(length).isPositive();
            for (long i = 0; i < length; i++) {
              moved.add(at + i);
              moved.add(into + i);
            }
          });
      List<Long> expected = new ArrayList<>();
      for (int i = 0; i < bytes; i++) {
        expected.add(remote.offset() + i / from[0] * remote.stride() + i % from[0]);
        expected.add(local.offset() + i / to[0] * local.stride() + i % to[0]);
      }
      assertThat(moved).as("%s from %s, seed %d", local, remote, seed).isEqualTo(expected);
    }
  }

  /** Length of a piece, pieces, and the gap between them. */
  private int[] shape(int bytes) {
    int length = 1 + random.nextInt(bytes);
    while (bytes % length != 0) {
      length--;
    }
    return new int[] {length, bytes / length, random.nextInt(3)};
  }

  // Guard: "pieces that touch are one piece".
  @Test
  void piecesThatTouchAreOneRunAndNoBytesAreNone() {
    RegionId region = new RegionId(1, 1);
    Batch batch =
        Batch.from(source)
            .add(new Descriptor(region, 0, 4, 4, 8), new RemoteDescriptor(0, 0, 8, 8, 4))
            .add(Descriptor.of(region, 0, 0), RemoteDescriptor.of(0, 0, 0))
            .build();
    List<Long> lengths = new ArrayList<>();
    Pieces.forEach(batch, 0, (_, _, length) -> lengths.add(length));
    Pieces.forEach(batch, 1, (_, _, length) -> lengths.add(length));
    assertThat(lengths).containsExactly(32L);
  }
}
