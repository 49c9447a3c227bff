package io.orbitkv.adapter;

import java.time.Duration;

/**
 * How blocks are published. Immutable.
 *
 * @param digest whether the Manager takes a digest (CRC32C) of each block that it stores. It goes
 *     with the block from Manager to Manager; each that fetches the block checks it, and what does
 *     not match is a miss. It costs a pass over the bytes at the publish and at each fetch between
 *     hosts. A block that was there already keeps what it has
 * @param overdueAfter how long a publish may take before it is told as overdue, which ends nothing;
 *     positive
 */
public record PublishOptions(boolean digest, Duration overdueAfter) {
  /** Without a digest, unless the Manager takes one of every block; overdue after 10 s. */
  public static final PublishOptions DEFAULTS = new PublishOptions(false, Duration.ofSeconds(10));

  /** Checks the time; {@link IllegalArgumentException} if it is not positive. */
  public PublishOptions {
    if (overdueAfter.isNegative() || overdueAfter.isZero()) {
      throw new IllegalArgumentException("overdue after " + overdueAfter + " must be positive");
    }
  }

  /** These options, with a digest or not. */
  public PublishOptions withDigest(boolean newDigest) {
    return new PublishOptions(newDigest, overdueAfter);
  }

  /** These options, overdue after another time. */
  public PublishOptions withOverdueAfter(Duration newOverdueAfter) {
    return new PublishOptions(digest, newOverdueAfter);
  }
}
