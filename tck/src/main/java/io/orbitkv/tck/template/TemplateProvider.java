package io.orbitkv.tck.template;

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

/** The entry point: says what it can do, and opens engines. */
public final class TemplateProvider implements TransportProvider {
  /** Does nothing: everything costly waits for {@link #open}. */
  public TemplateProvider() {}

  @Override
  public String name() {
    return "template";
  }

  @Override
  public String version() {
    return "0.1.0";
  }

  @Override
  public SpiVersion spiVersion() {
    return new SpiVersion(1, 0);
  }

  @Override
  public List<OptionSpec> options() {
    return List.of();
  }

  @Override
  public Capabilities capabilities(Map<String, String> options) {
    // Declare only what you can prove: the kit and the Manager hold you to every line.
    Set<Evidence> quiesced = Set.of(Evidence.LOCAL_QUIESCED);
    return new Capabilities(
        Set.of(MemoryKind.Type.HOST),
        Map.of(Side.DESTINATION, quiesced, Side.SOURCE, quiesced),
        64L << 20,
        16_384,
        true,
        true);
  }

  @Override
  public Probe probe(Map<String, String> options) {
    return Probe.usable("memory of this process");
  }

  @Override
  public Transport open(ProviderContext context) {
    return new TemplateTransport(context, capabilities(context.options()));
  }
}
