package io.orbitkv.provider.tcp;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * The local side of one batch: its memory, and the registrations that count it as a user from
 * {@link #open} to {@link #release}.
 */
final class Destination {
  /** Takes the pieces of a part, in order. */
  interface Pieces {
    void add(MemorySegment memory, long offset, long bytes);
  }

  private final Batch batch;
  private final Map<RegionId, TcpRegistration> registrations;

  private Destination(Batch batch, Map<RegionId, TcpRegistration> registrations) {
    this.batch = batch;
    this.registrations = registrations;
  }

  /**
   * Checks every local descriptor and counts the batch as a user of their regions.
   *
   * @throws TransportException NOT_FOUND, DENIED or INVALID; nothing is counted then
   */
  static Destination open(RegionTable regions, Batch batch) {
    Map<RegionId, TcpRegistration> used = new HashMap<>();
    boolean opened = false;
    try {
      for (int i = 0; i < batch.size(); i++) {
        Descriptor local = batch.local(i);
        TcpRegistration registration = used.get(local.region());
        if (registration == null) {
          registration = regions.use(local.region());
          used.put(local.region(), registration);
        }
        Region region = registration.region();
        if (!region.permission().writable()) {
          throw new TransportException(
              FaultCode.DENIED, region.id() + " is registered for reading only");
        }
        if (local.end() > region.length()) {
          throw new TransportException(
              FaultCode.INVALID, local + " leaves its region of " + region.length() + " bytes");
        }
      }
      opened = true;
      return new Destination(batch, used);
    } finally {
      if (!opened) {
        used.values().forEach(TcpRegistration::release);
      }
    }
  }

  /** Shows the next bytes behind the cursor; moves the cursor behind them. */
  void forEachPiece(PieceCursor cursor, long bytes, Pieces to) {
    RegionId known = null;
    MemorySegment memory = MemorySegment.NULL;
    long left = bytes;
    while (left > 0) {
      RegionId id = batch.local(cursor.index()).region();
      if (!id.equals(known)) {
        memory = memory(id);
        known = id;
      }
      long step = Math.min(left, cursor.left());
      to.add(memory, cursor.position(), step);
      cursor.advance(step);
      left -= step;
    }
  }

  private MemorySegment memory(RegionId id) {
    TcpRegistration registration = registrations.get(id);
    if (registration == null) {
      throw new IllegalStateException(id + " was not checked");
    }
    return registration.region().memory();
  }

  void release() {
    registrations.values().forEach(TcpRegistration::release);
  }
}
