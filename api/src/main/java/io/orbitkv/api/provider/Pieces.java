package io.orbitkv.api.provider;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.RemoteDescriptor;

/** Cuts the entries of a batch into runs that are contiguous at both ends. */
public final class Pieces {
  private Pieces() {}

  /** Takes one run. */
  @FunctionalInterface
  public interface Run {
    /**
     * One run of an entry.
     *
     * @param source where it begins, bytes from the start of the granted range
     * @param destination where it begins, bytes from the start of the local region
     * @param bytes its length, at least 1
     */
    void move(long source, long destination, long bytes);
  }

  /**
   * Tells every run of one entry, in order; both ends may be strided, and cut differently. An entry
   * of no bytes has none.
   *
   * @param batch whose entry it is; its builder has checked that both ends name as many bytes
   * @param entry index of the entry, from 0
   * @param run takes the runs, in this thread; what it throws ends the walk
   */
  public static void forEach(Batch batch, int entry, Run run) {
    Descriptor local = batch.local(entry);
    RemoteDescriptor remote = batch.remote(entry);
    // Pieces that touch are one piece.
    long localLength = local.stride() == local.length() ? local.bytes() : local.length();
    long remoteLength = remote.stride() == remote.length() ? remote.bytes() : remote.length();
    long moved = 0;
    while (moved < local.bytes()) {
      long from = moved % remoteLength;
      long to = moved % localLength;
      long bytes = Math.min(remoteLength - from, localLength - to);
      run.move(
          remote.offset() + moved / remoteLength * remote.stride() + from,
          local.offset() + moved / localLength * local.stride() + to,
          bytes);
      moved += bytes;
    }
  }
}
