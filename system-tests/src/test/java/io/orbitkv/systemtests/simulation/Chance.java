package io.orbitkv.systemtests.simulation;

import io.orbitkv.api.Epoch;
import java.util.List;
import java.util.SplittableRandom;

/** The only source of randomness of a schedule. */
final class Chance {
  private final SplittableRandom random;

  Chance(long seed) {
    random = new SplittableRandom(seed);
  }

  /** True once in {@code n} times; never for 0. */
  boolean oneIn(int n) {
    return n > 0 && random.nextInt(n) == 0;
  }

  /** From 0 to below {@code bound}. */
  int below(int bound) {
    return random.nextInt(bound);
  }

  /** From {@code least} to {@code most}. */
  long between(long least, long most) {
    return random.nextLong(least, most + 1);
  }

  @SafeVarargs
  final <T> T of(T... values) {
    return values[random.nextInt(values.length)];
  }

  <T> T of(List<T> values) {
    return values.get(random.nextInt(values.size()));
  }

  /** An identity, as {@link Epoch#random()} but from the seed. */
  Epoch epoch() {
    return new Epoch(random.nextLong(), random.nextLong() | 1);
  }
}
