package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/** The registered regions of one transport, by name. Thread-safe. */
final class RegionTable {
  static final int LIMIT = 4_096;

  private final Map<RegionId, TcpRegistration> byId = new HashMap<>();

  /**
   * Registers.
   *
   * @throws TransportException UNSUPPORTED, INVALID, IN_USE, EXHAUSTED; nothing was registered
   */
  synchronized TcpRegistration add(Region region) {
    check(region);
    if (byId.containsKey(region.id())) {
      throw new TransportException(FaultCode.IN_USE, region.id() + " is registered already");
    }
    if (byId.size() >= LIMIT) {
      throw new TransportException(
          FaultCode.EXHAUSTED, LIMIT + " regions are registered, the limit; close one first");
    }
    TcpRegistration registration = new TcpRegistration(this, region);
    byId.put(region.id(), registration);
    return registration;
  }

  /**
   * Finds and counts a user; the caller releases it when it is drained.
   *
   * @throws TransportException NOT_FOUND if there is none or it is revoked
   */
  TcpRegistration use(RegionId id) {
    TcpRegistration found;
    synchronized (this) {
      found = byId.get(id);
    }
    if (found == null) {
      throw new TransportException(FaultCode.NOT_FOUND, id + " is not registered");
    }
    found.use();
    return found;
  }

  synchronized void remove(TcpRegistration registration) {
    byId.remove(registration.region().id());
  }

  synchronized int size() {
    return byId.size();
  }

  private static void check(Region region) {
    if (region.kind().type() != MemoryKind.Type.HOST) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          region.id() + " is " + region.kind().type() + " memory; orbitte-tcp takes host memory");
    }
    MemorySegment memory = region.memory();
    // The threads of the engine hand it to system calls: it must be native, and not confined.
    if (!memory.isNative() || !memory.isAccessibleBy(Thread.ofPlatform().unstarted(() -> {}))) {
      throw new TransportException(
          FaultCode.INVALID,
          region.id() + " is not native memory that every thread may touch; use a shared arena");
    }
    if (region.permission().writable() && memory.isReadOnly()) {
      throw new TransportException(
          FaultCode.INVALID, region.id() + " is to be written, but its mapping is read-only");
    }
  }
}
