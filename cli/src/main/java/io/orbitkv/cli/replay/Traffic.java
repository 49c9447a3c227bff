package io.orbitkv.cli.replay;

/** Blocks that went one way, and their bytes. */
public record Traffic(long blocks, long bytes) {
  /** None. */
  static final Traffic NONE = new Traffic(0, 0);

  Traffic plus(long moreBlocks, long moreBytes) {
    return new Traffic(blocks + moreBlocks, bytes + moreBytes);
  }
}
