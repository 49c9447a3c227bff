package io.orbitkv.cli.bench;

import io.orbitkv.bench.LoopShape;
import java.util.ArrayList;
import java.util.List;

/** The shapes that have a name. */
final class Shapes {
  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;
  private static final int SCATTERED = 1000;

  private Shapes() {}

  /** The rows of the table: the field's sizes, then the shapes of a KV cache, then threads. */
  static List<LoopShape> table() {
    List<LoopShape> shapes = new ArrayList<>();
    for (int batch : List.of(1, 128)) {
      for (long block = 4 * KIB; block <= 64 * MIB; block *= 4) {
        shapes.add(LoopShape.random(block, batch, 1));
      }
    }
    shapes.addAll(scattered());
    for (int threads : List.of(4, 8)) {
      for (int block : List.of(4 * KIB, 64 * KIB, MIB)) {
        shapes.add(LoopShape.random(block, 1, threads));
      }
    }
    return shapes;
  }

  static List<LoopShape> large() {
    List<LoopShape> shapes = new ArrayList<>();
    for (int block : List.of(MIB, 2 * MIB, 8 * MIB, 64 * MIB)) {
      shapes.add(LoopShape.random(block, 1, 1));
    }
    shapes.add(LoopShape.random(2 * MIB, 32, 1));
    return shapes;
  }

  /** Blocks of a KV cache: scattered, and every second one of a layer. */
  static List<LoopShape> scattered() {
    List<LoopShape> shapes = new ArrayList<>();
    for (int block : List.of(4 * KIB, 16 * KIB, 64 * KIB)) {
      shapes.add(LoopShape.random(block, SCATTERED, 1));
    }
    shapes.add(new LoopShape(16 * KIB, SCATTERED, 32 * KIB, 1));
    return shapes;
  }

  static List<LoopShape> small() {
    List<LoopShape> shapes = new ArrayList<>();
    for (int block : List.of(4 * KIB, 16 * KIB, 64 * KIB)) {
      shapes.add(LoopShape.random(block, 1, 1));
    }
    return shapes;
  }

  /** Whether a baseline that polls says something about it. */
  static boolean isSmall(LoopShape shape) {
    return shape.batch() == 1 && shape.blockBytes() <= 64 * KIB && shape.threads() == 1;
  }
}
