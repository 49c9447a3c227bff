package io.orbitkv.tck;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.Probe;
import io.orbitkv.api.spi.ProviderContext;
import io.orbitkv.api.spi.SpiVersion;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.api.spi.TransportProvider;
import java.util.List;
import java.util.Map;

/**
 * A provider whose engines fail as a plan says, and are otherwise those of another provider. What a
 * plan lets fail it fails as the SPI allows: a caller of the SPI must bear it.
 *
 * @param provider the other provider
 * @param plan what fails
 */
public record FaultyProvider(TransportProvider provider, FaultPlan plan)
    implements TransportProvider {
  @Override
  public String name() {
    return provider.name();
  }

  @Override
  public String version() {
    return provider.version();
  }

  @Override
  public SpiVersion spiVersion() {
    return provider.spiVersion();
  }

  @Override
  public List<OptionSpec> options() {
    return provider.options();
  }

  @Override
  public Capabilities capabilities(Map<String, String> options) {
    return provider.capabilities(options);
  }

  @Override
  public Probe probe(Map<String, String> options) {
    return provider.probe(options);
  }

  @Override
  public Transport open(ProviderContext context) {
    return new FaultyTransport(provider.open(context), plan);
  }
}
