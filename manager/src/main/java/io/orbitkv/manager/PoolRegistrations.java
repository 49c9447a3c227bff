package io.orbitkv.manager;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegistrationState;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.MemoryRegistrar;
import io.orbitkv.api.spi.Registration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registrations of the pool's arenas at one provider: all of them, or none. What can not be
 * closed stays here, and keeps the memory mapped. Thread-safe.
 */
final class PoolRegistrations {
  private static final Logger LOG = LoggerFactory.getLogger(PoolRegistrations.class);

  private final MemoryRegistrar registrar;
  private final String backend;
  private final List<Entry> entries = new ArrayList<>();

  /** Regions of which nobody knows whether the provider registered them: mapped until exit. */
  private final List<Region> unknown = new ArrayList<>();

  PoolRegistrations(MemoryRegistrar registrar, String backend) {
    this.registrar = registrar;
    this.backend = backend;
  }

  /**
   * Registers regions, in this order.
   *
   * @throws TransportException naming the region that failed, its cause, and what came of those
   *     before it: they are closed again, and the call can be repeated once none is left
   */
  synchronized void register(List<Region> regions) {
    if (!entries.isEmpty() || !unknown.isEmpty()) {
      throw new IllegalStateException("registered already at " + backend + ": " + entries);
    }
    for (Region region : regions) {
      try {
        entries.add(new Entry(region, Objects.requireNonNull(registrar.register(region), "null")));
      } catch (TransportException e) {
        throw failed(region, regions, e);
      } catch (RuntimeException | LinkageError e) {
        // It broke its contract, so this proves nothing.
        unknown.add(region);
        throw failed(region, regions, ProviderFault.of(backend, "register()", e));
      }
    }
  }

  private TransportException failed(Region region, List<Region> regions, TransportException cause) {
    FaultCode code = cause.code();
    int before = entries.size();
    String which =
        backend
            + " did not register arena "
            + (before + 1)
            + " of "
            + regions.size()
            + " ("
            + region.length()
            + " bytes): "
            + cause.getMessage();
    TransportException failure;
    try {
      close();
      failure =
          new TransportException(
              code,
              which
                  + "; "
                  + (before == 0 ? "no other was" : "the " + before + " before it are not")
                  + " registered, mend that and start again",
              cause);
    } catch (RuntimeException e) {
      failure = new TransportException(code, which + "; " + e.getMessage(), cause);
      failure.addSuppressed(e);
    }
    return failure;
  }

  /**
   * Revokes all of them, then closes each that can be closed.
   *
   * @throws TransportException with the code of the first that failed, naming those that stay,
   *     whatever the provider threw; can be repeated
   */
  synchronized void close() {
    TransportException first = null;
    for (Entry entry : entries) {
      first = earlier(first, attempt(entry, "revoke()", entry::revoke));
    }
    for (Entry entry : List.copyOf(entries).reversed()) {
      if (entry.state == RegistrationState.REVOKED) {
        first = earlier(first, attempt(entry, "close()", entry::close));
      }
    }
    entries.removeIf(entry -> entry.state == RegistrationState.CLOSED);
    if (first != null) {
      throw new TransportException(first.code(), stays() + "; " + first.getMessage(), first);
    }
    if (!unknown.isEmpty()) {
      throw new TransportException(FaultCode.QUARANTINED, stays());
    }
  }

  /** What it failed with; null if it did not. */
  private @Nullable TransportException attempt(Entry entry, String call, Runnable step) {
    try {
      step.run();
      return null;
    } catch (RuntimeException | LinkageError e) {
      TransportException fault = ProviderFault.of(backend, call, e);
      LOG.warn("{} stays registered at {}: {}", entry, backend, fault.getMessage());
      return fault;
    }
  }

  private static @Nullable TransportException earlier(
      @Nullable TransportException one, @Nullable TransportException other) {
    return one == null ? other : one;
  }

  /** How many are in each state; those that are closed are not counted. */
  synchronized Map<RegistrationState, Integer> states() {
    Map<RegistrationState, Integer> counts = new EnumMap<>(RegistrationState.class);
    entries.forEach(entry -> counts.merge(entry.state, 1, Integer::sum));
    return counts;
  }

  private String stays() {
    List<String> names = new ArrayList<>();
    entries.forEach(entry -> names.add(entry.toString()));
    unknown.forEach(region -> names.add(region.id() + " (perhaps)"));
    return "still registered at " + backend + ", and mapped: " + String.join(", ", names);
  }

  /** One of them. Its state is written here alone. */
  private static final class Entry {
    private final Region region;
    private final Registration registration;
    private RegistrationState state = RegistrationState.REGISTERED;

    Entry(Region region, Registration registration) {
      this.region = region;
      this.registration = registration;
    }

    void revoke() {
      if (state == RegistrationState.REGISTERED) {
        registration.revoke();
        become(RegistrationState.REVOKED);
      }
    }

    void close() {
      registration.close();
      become(RegistrationState.CLOSED);
    }

    private void become(RegistrationState next) {
      if (!state.canBecome(next)) {
        throw new IllegalStateException(this + " can not go from " + state + " to " + next);
      }
      state = next;
    }

    @Override
    public String toString() {
      return String.valueOf(region.id());
    }
  }
}
