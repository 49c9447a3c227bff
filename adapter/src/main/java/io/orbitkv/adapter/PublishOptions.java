package io.orbitkv.adapter;

/**
 * How blocks are published. Immutable.
 *
 * @param digest whether the Manager takes a digest (CRC32C) of each block that it stores. It goes
 *     with the block from Manager to Manager; each that fetches the block checks it, and what does
 *     not match is a miss. It costs a pass over the bytes at the publish and at each fetch between
 *     hosts. A block that was there already keeps what it has
 */
public record PublishOptions(boolean digest) {
  /** Without a digest, unless the Manager takes one of every block. */
  public static final PublishOptions DEFAULTS = new PublishOptions(false);

  /** These options, with a digest or not. */
  public PublishOptions withDigest(boolean newDigest) {
    return new PublishOptions(newDigest);
  }
}
