package io.orbitkv.manager.local;

import io.orbitkv.adapter.wire.MemoryOffer;
import io.orbitkv.adapter.wire.RegistrationId;
import io.orbitkv.adapter.wire.SharedMapping;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.PageSize;
import io.orbitkv.ffm.Protection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that one session has registered. Thread-safe. Ids are the lowest that are free, so
 * they are used again; generations never are.
 */
final class EngineMemories {
  private final LocalLimits limits;
  private final AtomicLong generations;
  private final Map<Long, EngineMemory> byId = new HashMap<>();
  private long coveredBytes;
  private boolean closed;

  /** Generations come from a counter of the whole server. */
  EngineMemories(LocalLimits limits, AtomicLong generations) {
    this.limits = limits;
    this.generations = generations;
  }

  /** Checks an offer and maps it; the descriptor stays the caller's. */
  synchronized RegistrationId register(MemoryOffer offer, Fd memfd) {
    check(offer, memfd);
    String file = identity(memfd);
    for (EngineMemory other : byId.values()) {
      if (other.overlaps(file, offer.offset(), offer.bytes())) {
        throw refused(
            FaultCode.INVALID,
            "range overlaps registration " + other.id() + " of the same file; unregister that");
      }
    }
    SharedMapping mapping = map(offer, memfd);
    long id = 1;
    while (byId.containsKey(id)) {
      id++;
    }
    EngineMemory memory =
        new EngineMemory(id, generations.incrementAndGet(), file, offer.offset(), mapping);
    byId.put(id, memory);
    coveredBytes += offer.bytes();
    return new RegistrationId(id, memory.generation());
  }

  /**
   * Withdraws a registration.
   *
   * @param whenUnmapped runs once no copy reads it any more, maybe on another thread
   */
  void unregister(RegistrationId asked, Runnable whenUnmapped) {
    EngineMemory memory;
    synchronized (this) {
      memory = find(asked.id(), asked.generation());
      byId.remove(memory.id());
      coveredBytes -= memory.mapping().bytes();
    }
    memory.mapping().close(whenUnmapped);
  }

  /** The registration of that id and generation. */
  synchronized EngineMemory find(long id, long generation) {
    EngineMemory memory = byId.get(id);
    if (memory == null) {
      throw refused(FaultCode.NOT_FOUND, "registration " + id + " does not exist");
    }
    if (memory.generation() != generation) {
      throw refused(
          FaultCode.STALE_GENERATION,
          "registration " + id + " is of generation " + memory.generation() + " by now");
    }
    return memory;
  }

  /** Withdraws all and refuses further ones; each is unmapped when the last copy has left it. */
  void close() {
    Map<Long, EngineMemory> left;
    synchronized (this) {
      closed = true;
      left = Map.copyOf(byId);
      byId.clear();
      coveredBytes = 0;
    }
    left.values().forEach(memory -> memory.mapping().close(() -> {}));
  }

  private void check(MemoryOffer offer, Fd memfd) {
    long offset = offer.offset();
    long bytes = offer.bytes();
    if (closed) {
      throw refused(FaultCode.CLOSING, "session is ending; connect again");
    }
    if (byId.size() >= limits.registrationsPerSession()) {
      throw refused(
          FaultCode.EXHAUSTED,
          byId.size()
              + " registrations, as many as --registrations-per-session allows; unregister one");
    }
    if (bytes < 1 || offset < 0 || offset % PageSize.bytes() != 0) {
      throw refused(
          FaultCode.INVALID,
          bytes + " bytes at offset " + offset + "; at least 1 byte, at a multiple of the page");
    }
    if (bytes > limits.registeredBytes()) {
      throw refused(
          FaultCode.INVALID,
          bytes
              + " bytes are more than the limit of --registered-bytes-per-session, "
              + limits.registeredBytes()
              + "; register less, or raise it");
    }
    if (bytes > limits.registeredBytes() - coveredBytes) {
      throw refused(
          FaultCode.EXHAUSTED,
          coveredBytes
              + " bytes are registered and "
              + bytes
              + " more leave the limit of --registered-bytes-per-session, "
              + limits.registeredBytes()
              + "; unregister some");
    }
    if ((seals(memfd) & Memfd.F_SEAL_SHRINK) == 0) {
      throw refused(FaultCode.INVALID, "memfd is not sealed against shrinking; add F_SEAL_SHRINK");
    }
    long size = Memfd.size(memfd);
    if (offset > size || bytes > size - offset) {
      throw refused(FaultCode.INVALID, bytes + " bytes at offset " + offset + " leave its " + size);
    }
  }

  private static int seals(Fd memfd) {
    try {
      return Memfd.seals(memfd);
    } catch (NativeException _) {
      throw refused(FaultCode.INVALID, "descriptor is no memfd; send one made by memfd_create");
    }
  }

  private static String identity(Fd memfd) {
    Path link = Path.of("/proc/self/fd/" + memfd.number());
    try {
      return Files.getAttribute(link, "unix:dev") + ":" + Files.getAttribute(link, "unix:ino");
    } catch (IOException e) {
      throw new UncheckedIOException("reading " + link + "; mount /proc", e);
    }
  }

  private static SharedMapping map(MemoryOffer offer, Fd memfd) {
    try {
      return new SharedMapping(
          Mapping.map(memfd, offer.offset(), offer.bytes(), Protection.READ, false));
    } catch (NativeException e) {
      throw new TransportException(
          FaultCode.DEVICE, "register: mapping it failed: " + e.getMessage(), e);
    }
  }

  private static TransportException refused(FaultCode code, String why) {
    return new TransportException(code, "register: " + why);
  }
}
