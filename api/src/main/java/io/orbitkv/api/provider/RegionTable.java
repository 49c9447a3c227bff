package io.orbitkv.api.provider;

import io.orbitkv.api.Descriptor;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Registration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** The registered regions of one transport, by name. Thread-safe. */
final class RegionTable {
  private final Set<MemoryKind.Type> kinds;
  private final int limit;
  private final Map<RegionId, RegisteredRegion> byId = new HashMap<>();

  RegionTable(Set<MemoryKind.Type> kinds, int limit) {
    this.kinds = kinds;
    this.limit = limit;
  }

  /** As {@link OpenWork#register(Region, byte[], Runnable)}. */
  synchronized Registration add(Region region, byte[] description, Runnable withdraw) {
    check(region);
    if (byId.containsKey(region.id())) {
      throw refusal(FaultCode.IN_USE, region.id() + " is registered already; close that one first");
    }
    if (byId.size() >= limit) {
      throw refusal(
          FaultCode.EXHAUSTED, limit + " regions are registered, the limit; close one first");
    }
    RegisteredRegion registration = new RegisteredRegion(this, region, description, withdraw);
    byId.put(region.id(), registration);
    return registration;
  }

  private void check(Region region) {
    if (!kinds.contains(region.kind().type())) {
      throw refusal(
          FaultCode.UNSUPPORTED,
          region.id() + " is " + region.kind().type() + " memory; this provider takes " + kinds);
    }
    boolean host = region.kind().type() == MemoryKind.Type.HOST;
    if (host && !region.memory().isAccessibleBy(Thread.ofPlatform().unstarted(() -> {}))) {
      throw refusal(
          FaultCode.INVALID,
          region.id() + " is memory of one thread; the provider's own need a shared arena");
    }
  }

  synchronized void remove(RegisteredRegion registration) {
    byId.remove(registration.region().id(), registration);
  }

  synchronized int size() {
    return byId.size();
  }

  /** What is to be written: each in bounds of a region that is registered and writable. */
  RegionUse useDestinations(List<Descriptor> descriptors) {
    return use(descriptors, Permission::writable, "writable");
  }

  /** What is to be read: each in bounds of a region that is registered and readable. */
  RegionUse useSources(List<Descriptor> descriptors) {
    return use(descriptors, Permission::readable, "readable");
  }

  private RegionUse use(List<Descriptor> descriptors, Predicate<Permission> may, String what) {
    Map<RegionId, RegisteredRegion> used = new HashMap<>();
    List<Region> regions = new ArrayList<>(descriptors.size());
    boolean whole = false;
    try {
      for (Descriptor descriptor : descriptors) {
        Region region = used.computeIfAbsent(descriptor.region(), this::use).region();
        if (!may.test(region.permission())) {
          throw refusal(FaultCode.DENIED, region.id() + " is not registered as " + what);
        }
        if (descriptor.end() > region.length()) {
          throw refusal(
              FaultCode.INVALID,
              descriptor + " leaves its region of " + region.length() + " bytes");
        }
        regions.add(region);
      }
      whole = true;
      return new RegionUse(regions, List.copyOf(used.values()));
    } finally {
      // Who is refused has taken nothing.
      if (!whole) {
        used.values().forEach(RegisteredRegion::release);
      }
    }
  }

  private RegisteredRegion use(RegionId id) {
    RegisteredRegion found;
    synchronized (this) {
      found = byId.get(id);
    }
    if (found == null) {
      throw refusal(FaultCode.NOT_FOUND, id + " is not registered; register it first");
    }
    found.use();
    return found;
  }

  private static TransportException refusal(FaultCode code, String message) {
    return new TransportException(code, message);
  }
}
