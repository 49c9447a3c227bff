package io.orbitkv.adapter;

/** What an engine process is in its instance. Told to the Manager; grants no right. */
public enum Role {
  /** Decides what is computed and where; asks for blocks. */
  SCHEDULER(1),
  /** Holds the KV pages; publishes and copies. */
  WORKER(2),
  /** A command of a person or a script, not an engine. */
  TOOL(3);

  private final int wire;

  Role(int wire) {
    this.wire = wire;
  }

  /** The stable number that stands for this role on the channel. */
  public int wire() {
    return wire;
  }
}
