package io.orbitkv.bench.channel;

import java.util.Locale;

/** Where the two processes run. */
public enum Placement {
  /** Both on the same one. */
  ONE_CORE,
  /** Each on one of its own. */
  TWO_CORES;

  /** Its name in options and results. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
