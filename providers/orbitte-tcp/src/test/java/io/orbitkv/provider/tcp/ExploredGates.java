package io.orbitkv.provider.tcp;

import org.jspecify.annotations.Nullable;

/**
 * Gates that are wrong in one way each. {@link ExploredLoader} gives one of them to the real ticket
 * and source hold in place of {@link Gate}. One thread at a time.
 */
final class ExploredGates {
  /** The second half of an entry that was not atomic; null if there is none. */
  private static @Nullable Runnable later;

  private ExploredGates() {}

  static @Nullable Runnable takeLater() {
    Runnable taken = later;
    later = null;
    return taken;
  }

  static class Honest {
    protected boolean retired;
    protected int inside;

    boolean enter() {
      if (retired) {
        return false;
      }
      inside++;
      return true;
    }

    boolean leave() {
      inside--;
      return drained();
    }

    boolean retire() {
      boolean before = retired;
      retired = true;
      return !before && drained();
    }

    boolean retired() {
      return retired;
    }

    boolean drained() {
      return retired && inside == 0;
    }
  }

  /** Drained as soon as nobody is inside, although somebody may still enter. */
  static final class CountOnly extends Honest {
    @Override
    boolean drained() {
      return inside == 0;
    }

    @Override
    boolean leave() {
      inside--;
      return retired && inside == 0;
    }
  }

  /** Looks at the retired bit, and enters in a second step. */
  static final class CheckThenEnter extends Honest {
    @Override
    boolean enter() {
      if (retired) {
        return false;
      }
      later = () -> inside++;
      return true;
    }
  }

  /** Lets everybody in at any time. */
  static final class Unchecked extends Honest {
    @Override
    boolean enter() {
      inside++;
      return true;
    }
  }

  /** Does not wait for who is inside. */
  static final class Impatient extends Honest {
    @Override
    boolean leave() {
      inside--;
      return false;
    }

    @Override
    boolean drained() {
      return retired;
    }
  }
}
