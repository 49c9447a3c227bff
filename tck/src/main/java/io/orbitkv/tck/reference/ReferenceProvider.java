package io.orbitkv.tck.reference;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Side;
import io.orbitkv.api.TransportException;
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
  static final String MAX_PIECES = "reference-max-pieces";
  static final Capabilities DEFAULT_CAPABILITIES = capabilities(16_384);

  private final Lever lever;
  private final Set<Defect> defects;

  /** An honest provider whose transports obey this lever. */
  public ReferenceProvider(Lever lever) {
    this(lever, Set.of());
  }

  /** A provider that is wrong in these ways. */
  public ReferenceProvider(Lever lever, Set<Defect> defects) {
    this.lever = lever;
    this.defects = Set.copyOf(defects);
  }

  private static Capabilities capabilities(int pieces) {
    return new Capabilities(
        Set.of(MemoryKind.Type.HOST),
        Map.of(
            Side.DESTINATION, Set.of(Evidence.LOCAL_QUIESCED),
            Side.SOURCE, Set.of(Evidence.LOCAL_QUIESCED)),
        64L << 20,
        pieces,
        true,
        true);
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
    return List.of(
        new OptionSpec(MAX_PIECES, "N", "16384", "pieces of one batch at most, 1 to 16384"));
  }

  @Override
  public Capabilities capabilities(Map<String, String> options) {
    String text = options.getOrDefault(MAX_PIECES, "16384");
    try {
      int pieces = Integer.parseInt(text);
      if (pieces >= 1 && pieces <= 16_384) {
        return capabilities(pieces);
      }
    } catch (NumberFormatException e) {
      // Told below, with the range.
    }
    throw new TransportException(
        FaultCode.INVALID,
        MAX_PIECES + " '" + text + "' is not acceptable; it must be a number from 1 to 16384");
  }

  @Override
  public Probe probe(Map<String, String> options) {
    try {
      return Probe.usable(
          "memory of this process, " + capabilities(options).maxDescriptors() + " pieces a batch");
    } catch (TransportException e) {
      return Probe.unusable(String.valueOf(e.getMessage()), "give it another value");
    }
  }

  @Override
  public Transport open(ProviderContext context) {
    return ReferenceTransport.open(context, capabilities(context.options()), lever, defects);
  }
}
