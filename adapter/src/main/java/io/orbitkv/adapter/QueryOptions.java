package io.orbitkv.adapter;

import io.orbitkv.adapter.wire.Names;
import java.time.Duration;
import java.util.List;

/**
 * How blocks are asked for. Immutable.
 *
 * @param fetch whether the Manager fetches missing blocks from its peers
 * @param prefix whether the answer ends at the first block that is missing
 * @param deadline the Manager answers within this time with what is there by then; what is not is a
 *     miss. Positive, at most {@link #MAX_DEADLINE}
 */
public record QueryOptions(boolean fetch, boolean prefix, Duration deadline) {
  /** Longest deadline that the Manager accepts. */
  public static final Duration MAX_DEADLINE = Duration.ofHours(1);

  private static final long FLAG_FETCH = 1;
  private static final long FLAG_PREFIX = 2;

  /** Only what this host's Manager holds; every block for itself; 10 s. */
  public static final QueryOptions LOCAL = new QueryOptions(false, false, Duration.ofSeconds(10));

  /** With fetch from peers; every block for itself; 10 s. */
  public static final QueryOptions FETCH = new QueryOptions(true, false, Duration.ofSeconds(10));

  /** Checks the bounds; {@link IllegalArgumentException} if one is left. */
  public QueryOptions {
    if (deadline.isNegative() || deadline.isZero() || deadline.compareTo(MAX_DEADLINE) > 0) {
      throw new IllegalArgumentException(
          "query deadline " + deadline + " must be positive and at most " + MAX_DEADLINE);
    }
  }

  long flags() {
    return (fetch ? FLAG_FETCH : 0) | (prefix ? FLAG_PREFIX : 0);
  }

  static void check(List<BlockName> names) {
    if (names.size() > Names.LIMIT) {
      throw new IllegalArgumentException(
          "query of " + names.size() + " blocks; the limit is " + Names.LIMIT);
    }
  }

  /** These options, the answer ending at the first block that is missing or not. */
  public QueryOptions withPrefix(boolean newPrefix) {
    return new QueryOptions(fetch, newPrefix, deadline);
  }

  /** These options with another deadline. */
  public QueryOptions withDeadline(Duration newDeadline) {
    return new QueryOptions(fetch, prefix, newDeadline);
  }
}
