package io.orbitkv.cli.sample;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Region;
import io.orbitkv.api.Side;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Probe;
import io.orbitkv.api.spi.ProviderContext;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.SpiVersion;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.api.spi.TransportProvider;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A provider that opens and then can do nothing; its engine is one class with it. */
public final class SloppyProvider implements TransportProvider, Transport {
  private final Epoch epoch;

  /** The provider. */
  public SloppyProvider() {
    this(Epoch.NONE);
  }

  private SloppyProvider(Epoch epoch) {
    this.epoch = epoch;
  }

  @Override
  public String name() {
    return "sloppy";
  }

  @Override
  public String version() {
    return "0.1";
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
    return new Capabilities(
        Set.of(MemoryKind.Type.HOST),
        Map.of(
            Side.DESTINATION, Set.of(Evidence.LOCAL_QUIESCED),
            Side.SOURCE, Set.of(Evidence.LOCAL_QUIESCED)),
        64 << 20,
        16_384,
        false,
        false);
  }

  @Override
  public Probe probe(Map<String, String> options) {
    return Probe.usable("nothing is needed");
  }

  @Override
  public Transport open(ProviderContext context) {
    return new SloppyProvider(context.receipts().epoch());
  }

  @Override
  public Epoch epoch() {
    return epoch;
  }

  @Override
  public URI endpoint() {
    return URI.create("sloppy://" + epoch);
  }

  @Override
  public byte[] peerBytes() {
    return new byte[0];
  }

  @Override
  public Capabilities capabilities() {
    return capabilities(Map.of());
  }

  @Override
  public Registration register(Region region) {
    throw nothing();
  }

  @Override
  public Peer connect(URI endpoint, Epoch expected, byte[] peerBytes) {
    throw nothing();
  }

  @Override
  public SourceHold admit(Admission admission) {
    throw nothing();
  }

  @Override
  public void quiesce() {}

  @Override
  public List<DrainReceipt> closeSource(long deadlineNanos) {
    return List.of();
  }

  @Override
  public void close() {}

  private static TransportException nothing() {
    return new TransportException(FaultCode.UNSUPPORTED, "sloppy can do nothing; take another");
  }
}
