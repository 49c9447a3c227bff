package io.orbitkv.tck;

import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.api.spi.TransportProvider;
import java.util.Map;
import java.util.Optional;

/**
 * What a provider supplies to be tested. Two engines that the kit opens with it on this host must
 * reach each other. Used by one test at a time.
 */
public interface ProviderFixture {
  /** The provider under test. */
  TransportProvider provider();

  /** Its options that differ from the defaults, by full name. */
  default Map<String, String> options() {
    return Map.of();
  }

  /** The IP address, literal, that engines listen on. */
  default String host() {
    return "127.0.0.1";
  }

  /** What is not expected of it, each with the reason, one line. The tests of it are skipped. */
  default Map<Behaviour, String> declined() {
    return Map.of();
  }

  /**
   * Allocates memory.
   *
   * @param kind one of a type that the provider declared
   * @param bytes at least so many
   * @return owned by the kit
   */
  default MemoryBacking memory(MemoryKind kind, long bytes) {
    if (kind.type() != MemoryKind.Type.HOST) {
      throw new UnsupportedOperationException(
          "the fixture allocates no memory of kind " + kind + "; override memory(kind, bytes)");
    }
    return new HostMemory(bytes);
  }

  /** A new link to this owner that the kit can stop, break and redirect; empty: there is none. */
  default Optional<FaultLever> lever(Transport owner) {
    return Optional.empty();
  }

  /** The provider as a packaged plugin; empty: it is not packaged. */
  default Optional<PluginPackage> plugin() {
    return Optional.empty();
  }
}
