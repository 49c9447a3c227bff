package io.orbitkv.cli.sample;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Region;
import io.orbitkv.api.Side;
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
import java.util.concurrent.CountDownLatch;

/**
 * A provider named stuck, of which quiesce() never returns and keeps its lock; or which lacks a
 * native library, as its option says.
 */
public final class StuckProvider implements TransportProvider {
  private static final Capabilities CAPABILITIES =
      new Capabilities(
          Set.of(MemoryKind.Type.HOST),
          Map.of(
              Side.DESTINATION, Set.of(Evidence.LOCAL_QUIESCED),
              Side.SOURCE, Set.of(Evidence.LOCAL_QUIESCED)),
          64 << 20,
          16_384,
          true,
          false);

  @Override
  public String name() {
    return "stuck";
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
    return List.of(new OptionSpec("stuck-lacks", "LIBRARY", "", "a library that is not there"));
  }

  @Override
  public Capabilities capabilities(Map<String, String> options) {
    return CAPABILITIES;
  }

  @Override
  public Probe probe(Map<String, String> options) {
    return Probe.usable("fine");
  }

  @Override
  @SuppressWarnings("restricted") // The library is not there.
  public Transport open(ProviderContext context) {
    String lacks = context.options().getOrDefault("stuck-lacks", "");
    if (lacks.equals("sense")) {
      throw new AssertionError("it has\nno sense");
    }
    if (!lacks.isEmpty()) {
      System.loadLibrary(lacks);
    }
    return new StuckTransport(context.receipts().epoch());
  }

  private static final class StuckTransport implements Transport {
    private final Epoch epoch;

    StuckTransport(Epoch epoch) {
      this.epoch = epoch;
    }

    @Override
    public Epoch epoch() {
      return epoch;
    }

    @Override
    public synchronized URI endpoint() {
      return URI.create("stuck://" + epoch);
    }

    @Override
    public byte[] peerBytes() {
      return new byte[0];
    }

    @Override
    public Capabilities capabilities() {
      return CAPABILITIES;
    }

    @Override
    public Registration register(Region region) {
      return new StuckRegistration(region);
    }

    @Override
    public Peer connect(URI endpoint, Epoch expected, byte[] peerBytes) {
      throw new UnsupportedOperationException("nobody connects");
    }

    @Override
    public SourceHold admit(Admission admission) {
      throw new UnsupportedOperationException("nobody asks");
    }

    @Override
    public synchronized void quiesce() {
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public List<DrainReceipt> closeSource(long deadlineNanos) {
      return List.of();
    }

    @Override
    public void close() {}
  }

  private record StuckRegistration(Region region) implements Registration {
    @Override
    public byte[] describe() {
      return new byte[0];
    }

    @Override
    public void revoke() {}

    @Override
    public void close() {}
  }
}
