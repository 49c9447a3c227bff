package io.orbitkv.api;

import java.util.ArrayList;
import java.util.List;

/**
 * An immutable list of (local descriptor, remote descriptor) for one peer, one direction and one
 * grant. v1 is pull-only: a batch is always a READ, from the remote region into local memory.
 *
 * <p>Entry {@code i} moves {@code remote(i)} into {@code local(i)}: the bytes of the pieces of both
 * in order; both name the same number of bytes, the pieces may be cut differently.
 */
public final class Batch {
  private final RemoteRegion source;
  private final List<Descriptor> locals;
  private final List<RemoteDescriptor> remotes;
  private final long bytes;

  private Batch(
      RemoteRegion source, List<Descriptor> locals, List<RemoteDescriptor> remotes, long bytes) {
    this.source = source;
    this.locals = locals;
    this.remotes = remotes;
    this.bytes = bytes;
  }

  /** Starts a batch that reads from {@code source}. */
  public static Builder from(RemoteRegion source) {
    return new Builder(source);
  }

  /** The remote region that it reads from. */
  public RemoteRegion source() {
    return source;
  }

  /** How many entries. */
  public int size() {
    return locals.size();
  }

  /** The destination of entry {@code i}. */
  public Descriptor local(int i) {
    return locals.get(i);
  }

  /** The source of entry {@code i}. */
  public RemoteDescriptor remote(int i) {
    return remotes.get(i);
  }

  /** Payload of all entries, bytes. */
  public long bytes() {
    return bytes;
  }

  @Override
  public String toString() {
    return "batch of " + size() + " entries, " + bytes + " bytes, under " + source.grant();
  }

  /** Collects entries; used by one thread, for one batch. */
  public static final class Builder {
    private final RemoteRegion source;
    private final List<Descriptor> locals = new ArrayList<>();
    private final List<RemoteDescriptor> remotes = new ArrayList<>();
    private long bytes;

    private Builder(RemoteRegion source) {
      this.source = source;
    }

    /**
     * Adds one entry.
     *
     * @throws IllegalArgumentException if the two name different numbers of bytes, the remote
     *     descriptor leaves its range, or the batch's length overflows
     */
    public Builder add(Descriptor local, RemoteDescriptor remote) {
      if (local.bytes() != remote.bytes()) {
        throw new IllegalArgumentException(
            "destination of " + local.bytes() + " bytes for a source of " + remote.bytes());
      }
      if (remote.range() >= source.ranges() || remote.end() > source.length(remote.range())) {
        throw new IllegalArgumentException(remote + " leaves the ranges of " + source.grant());
      }
      bytes = Math.addExact(bytes, local.bytes());
      locals.add(local);
      remotes.add(remote);
      return this;
    }

    /**
     * Ends the collection.
     *
     * @throws IllegalArgumentException if there is no entry
     */
    public Batch build() {
      if (locals.isEmpty()) {
        throw new IllegalArgumentException("a batch without entries under " + source.grant());
      }
      return new Batch(source, List.copyOf(locals), List.copyOf(remotes), bytes);
    }
  }
}
