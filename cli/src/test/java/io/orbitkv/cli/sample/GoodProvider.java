package io.orbitkv.cli.sample;

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

/** A provider named good. */
public final class GoodProvider implements TransportProvider {
  @Override
  public String name() {
    return "good";
  }

  @Override
  public String version() {
    return "0.9";
  }

  @Override
  public SpiVersion spiVersion() {
    return new SpiVersion(1, 0);
  }

  @Override
  public List<OptionSpec> options() {
    return List.of(new OptionSpec("good-port", "PORT", "0", "port, 100% free"));
  }

  @Override
  public Capabilities capabilities(Map<String, String> options) {
    return new Capabilities(
        Set.of(MemoryKind.Type.HOST),
        Map.of(
            Side.DESTINATION, Set.of(Evidence.LOCAL_QUIESCED),
            Side.SOURCE, Set.of(Evidence.PEER_RECEIPT, Evidence.ACCESS_REVOKED)),
        64 << 20,
        16_384,
        true,
        false);
  }

  @Override
  public Probe probe(Map<String, String> options) {
    return Probe.usable(
        "sockets of this machine, 100% of them, with every window as wide as the network allows");
  }

  @Override
  public Transport open(ProviderContext context) {
    throw new UnsupportedOperationException("this provider is never opened");
  }
}
