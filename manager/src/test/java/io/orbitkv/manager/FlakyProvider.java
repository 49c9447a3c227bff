package io.orbitkv.manager;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Region;
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
import io.orbitkv.tck.reference.Lever;
import io.orbitkv.tck.reference.ReferenceProvider;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The reference provider, whose n-th registration from now on is refused, or whose next closes of
 * registrations are, as the SPI allows; or which throws and returns what the SPI does not allow.
 */
final class FlakyProvider implements TransportProvider {
  private final ReferenceProvider provider = new ReferenceProvider(new Lever());
  private final AtomicInteger untilRefusal = new AtomicInteger();
  private final AtomicInteger closesRefused = new AtomicInteger();
  private volatile boolean throwsAfterRegistering;
  private volatile boolean registersNull;
  private volatile Throws throwing = Throws.NOTHING;

  /** Which call throws against the contract. */
  enum Throws {
    NOTHING,
    OPEN,
    REGISTER,
    REVOKE,
    CLOSE_OF_REGISTRATION,
    QUIESCE,
    CLOSE_SOURCE
  }

  /** From now on that call throws what the SPI does not know. */
  void tripIn(Throws call) {
    throwing = call;
  }

  private void trip(Throws call) {
    if (throwing == call) {
      if (call == Throws.OPEN || call == Throws.REGISTER) {
        throw new UnsatisfiedLinkError("no flaky in the path");
      }
      throw new IllegalStateException("tripped in\n" + call);
    }
  }

  /** Registers, and returns null. */
  void registerNull() {
    registersNull = true;
  }

  /** The n-th registration from now is refused, once. */
  void refuseRegistration(int n) {
    untilRefusal.set(n);
  }

  /** So many closes of registrations are refused from now on. */
  void refuseCloses(int n) {
    closesRefused.set(n);
  }

  /** Registers, and then throws what the SPI does not know. */
  void throwAfterRegistering() {
    throwsAfterRegistering = true;
  }

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
    trip(Throws.OPEN);
    return new FlakyTransport(provider.open(context));
  }

  private final class FlakyTransport implements Transport {
    private final Transport transport;

    FlakyTransport(Transport transport) {
      this.transport = transport;
    }

    @Override
    @SuppressWarnings("NullAway") // What a provider that breaks the contract does.
    public Registration register(Region region) {
      trip(Throws.REGISTER);
      if (untilRefusal.get() > 0 && untilRefusal.decrementAndGet() == 0) {
        throw new TransportException(FaultCode.DEVICE, "the device has no room for more");
      }
      Registration registration = transport.register(region);
      if (throwsAfterRegistering) {
        throw new IllegalStateException("registered, and then tripped");
      }
      if (registersNull) {
        return null;
      }
      return new FlakyRegistration(registration);
    }

    @Override
    public Epoch epoch() {
      return transport.epoch();
    }

    @Override
    public URI endpoint() {
      return transport.endpoint();
    }

    @Override
    public byte[] peerBytes() {
      return transport.peerBytes();
    }

    @Override
    public Capabilities capabilities() {
      return transport.capabilities();
    }

    @Override
    public Peer connect(URI endpoint, Epoch expected, byte[] peerBytes) {
      return transport.connect(endpoint, expected, peerBytes);
    }

    @Override
    public SourceHold admit(Admission admission) {
      return transport.admit(admission);
    }

    @Override
    public void quiesce() {
      trip(Throws.QUIESCE);
      transport.quiesce();
    }

    @Override
    public List<DrainReceipt> closeSource(long deadlineNanos) {
      trip(Throws.CLOSE_SOURCE);
      return transport.closeSource(deadlineNanos);
    }

    @Override
    public void close() {
      transport.close();
    }
  }

  private final class FlakyRegistration implements Registration {
    private final Registration registration;

    FlakyRegistration(Registration registration) {
      this.registration = registration;
    }

    @Override
    public Region region() {
      return registration.region();
    }

    @Override
    public byte[] describe() {
      return registration.describe();
    }

    @Override
    public void revoke() {
      trip(Throws.REVOKE);
      registration.revoke();
    }

    @Override
    public void close() {
      if (closesRefused.get() > 0) {
        closesRefused.decrementAndGet();
        throw new TransportException(FaultCode.DEVICE, "the device does not answer");
      }
      trip(Throws.CLOSE_OF_REGISTRATION);
      registration.close();
    }
  }
}
