package io.orbitkv.provider.tcp;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.IoVector;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * The local side of one batch: its memory, and the registrations that count it as a user from
 * {@link #open} to {@link #release}.
 */
final class Destination {
  private final Map<RegionId, TcpRegistration> registrations;
  private final MemorySegment[] memory;

  private Destination(Map<RegionId, TcpRegistration> registrations, MemorySegment[] memory) {
    this.registrations = registrations;
    this.memory = memory;
  }

  /**
   * Checks every local descriptor and counts the batch as a user of their regions.
   *
   * @throws TransportException NOT_FOUND, DENIED or INVALID; nothing is counted then
   */
  static Destination open(RegionTable regions, Batch batch) {
    Map<RegionId, TcpRegistration> used = new HashMap<>();
    MemorySegment[] memory = new MemorySegment[batch.size()];
    boolean opened = false;
    try {
      for (int i = 0; i < memory.length; i++) {
        Descriptor local = batch.local(i);
        Region region = used.computeIfAbsent(local.region(), regions::use).region();
        if (!region.permission().writable()) {
          throw new TransportException(
              FaultCode.DENIED, region.id() + " is registered for reading only");
        }
        if (local.end() > region.length()) {
          throw new TransportException(
              FaultCode.INVALID, local + " leaves its region of " + region.length() + " bytes");
        }
        memory[i] = region.memory();
      }
      opened = true;
      return new Destination(used, memory);
    } finally {
      if (!opened) {
        used.values().forEach(TcpRegistration::release);
      }
    }
  }

  /** Puts the next bytes behind the cursor into a vector; moves the cursor behind them. */
  void fill(IoVector vector, PieceCursor cursor, long bytes) {
    long left = bytes;
    while (left > 0) {
      long step = Math.min(left, cursor.left());
      vector.add(memory[cursor.index()], cursor.position(), step);
      cursor.advance(step);
      left -= step;
    }
  }

  void release() {
    registrations.values().forEach(TcpRegistration::release);
  }
}
