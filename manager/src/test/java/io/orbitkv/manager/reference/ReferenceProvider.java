package io.orbitkv.manager.reference;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Side;
import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.Probe;
import io.orbitkv.api.spi.ProviderContext;
import io.orbitkv.api.spi.SpiVersion;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.api.spi.TransportProvider;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Opens reference transports that reach each other inside this process. */
public final class ReferenceProvider implements TransportProvider {
  static final Capabilities CAPABILITIES =
      new Capabilities(
          Set.of(MemoryKind.Type.HOST),
          Map.of(
              Side.DESTINATION, Set.of(Evidence.LOCAL_QUIESCED),
              Side.SOURCE, Set.of(Evidence.LOCAL_QUIESCED)),
          64L << 20,
          16_384,
          false,
          true);

  private final Lever lever;

  /** A provider whose transports obey this lever. */
  public ReferenceProvider(Lever lever) {
    this.lever = lever;
  }

  @Override
  public String name() {
    return "reference";
  }

  @Override
  public String version() {
    return "1";
  }

  @Override
  public SpiVersion spiVersion() {
    return SpiVersion.CURRENT;
  }

  @Override
  public List<OptionSpec> options() {
    return List.of();
  }

  @Override
  public Capabilities capabilities(Map<String, String> options) {
    return CAPABILITIES;
  }

  @Override
  public Probe probe(Map<String, String> options) {
    return Probe.usable("memory of this process");
  }

  @Override
  public Transport open(ProviderContext context) {
    return new ReferenceTransport(context, lever);
  }
}
