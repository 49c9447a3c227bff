package io.orbitkv.provider.tcp;

import io.orbitkv.api.spi.Transport;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.tck.BackpressureTck;
import io.orbitkv.tck.Behaviour;
import io.orbitkv.tck.CapabilityTruthTck;
import io.orbitkv.tck.ConcurrencyTck;
import io.orbitkv.tck.DrainTck;
import io.orbitkv.tck.EpochTck;
import io.orbitkv.tck.FaultLever;
import io.orbitkv.tck.FaultTck;
import io.orbitkv.tck.LifecycleTck;
import io.orbitkv.tck.PluginPackagingTck;
import io.orbitkv.tck.ProviderFixture;
import io.orbitkv.tck.RegistrationTck;
import io.orbitkv.tck.RevokeTck;
import io.orbitkv.tck.TcpLever;
import io.orbitkv.tck.TicketTck;
import io.orbitkv.tck.TransferTck;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Nested;

/** The provider passes the compatibility kit, over a proxy that stalls and cuts. */
class CompatibilityTest {
  /** What the kit needs to know of this provider. */
  private static final class Fixture implements ProviderFixture {
    private final Map<String, String> options;

    Fixture(Map<String, String> options) {
      this.options = options;
    }

    @Override
    public TransportProvider provider() {
      return new OrbitteTcpProvider();
    }

    @Override
    public Map<String, String> options() {
      return options;
    }

    @Override
    public Map<Behaviour, String> declined() {
      return Map.of(Behaviour.PACKAGE, "the plugin is tested where it is packaged, by orbitkv tck");
    }

    @Override
    public Optional<FaultLever> lever(Transport owner) {
      return Optional.of(TcpLever.before(owner));
    }
  }

  /** The provider's options. */
  Map<String, String> settings() {
    return Map.of();
  }

  @Nested
  class Lifecycle extends LifecycleTck {
    @Override
    protected ProviderFixture fixture() {
      return new Fixture(settings());
    }
  }

  @Nested
  class Registration extends RegistrationTck {
    @Override
    protected ProviderFixture fixture() {
      return new Fixture(settings());
    }
  }

  @Nested
  class Transfer extends TransferTck {
    @Override
    protected ProviderFixture fixture() {
      return new Fixture(settings());
    }
  }

  @Nested
  class Ticket extends TicketTck {
    @Override
    protected ProviderFixture fixture() {
      return new Fixture(settings());
    }
  }

  @Nested
  class Drain extends DrainTck {
    @Override
    protected ProviderFixture fixture() {
      return new Fixture(settings());
    }
  }

  @Nested
  class Epoch extends EpochTck {
    @Override
    protected ProviderFixture fixture() {
      return new Fixture(settings());
    }
  }

  @Nested
  class Revoke extends RevokeTck {
    @Override
    protected ProviderFixture fixture() {
      return new Fixture(settings());
    }
  }

  @Nested
  class Fault extends FaultTck {
    @Override
    protected ProviderFixture fixture() {
      return new Fixture(settings());
    }
  }

  @Nested
  class Concurrency extends ConcurrencyTck {
    @Override
    protected ProviderFixture fixture() {
      return new Fixture(settings());
    }
  }

  @Nested
  class Backpressure extends BackpressureTck {
    @Override
    protected ProviderFixture fixture() {
      return new Fixture(settings());
    }
  }

  @Nested
  class CapabilityTruth extends CapabilityTruthTck {
    @Override
    protected ProviderFixture fixture() {
      return new Fixture(settings());
    }
  }

  @Nested
  class PluginPackaging extends PluginPackagingTck {
    @Override
    protected ProviderFixture fixture() {
      return new Fixture(settings());
    }
  }
}
