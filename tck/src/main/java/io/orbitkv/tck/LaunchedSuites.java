package io.orbitkv.tck;

import org.junit.jupiter.api.extension.ExtendWith;

/** The suites as classes that can run: each gets the fixture of its {@link TckRun}. */
final class LaunchedSuites {
  private LaunchedSuites() {}

  @ExtendWith(LentFixture.class)
  static final class Lifecycle extends LifecycleTck {
    private final ProviderFixture fixture;

    Lifecycle(ProviderFixture fixture) {
      this.fixture = fixture;
    }

    @Override
    protected ProviderFixture fixture() {
      return fixture;
    }
  }

  @ExtendWith(LentFixture.class)
  static final class Registration extends RegistrationTck {
    private final ProviderFixture fixture;

    Registration(ProviderFixture fixture) {
      this.fixture = fixture;
    }

    @Override
    protected ProviderFixture fixture() {
      return fixture;
    }
  }

  @ExtendWith(LentFixture.class)
  static final class Transfer extends TransferTck {
    private final ProviderFixture fixture;

    Transfer(ProviderFixture fixture) {
      this.fixture = fixture;
    }

    @Override
    protected ProviderFixture fixture() {
      return fixture;
    }
  }

  @ExtendWith(LentFixture.class)
  static final class Ticket extends TicketTck {
    private final ProviderFixture fixture;

    Ticket(ProviderFixture fixture) {
      this.fixture = fixture;
    }

    @Override
    protected ProviderFixture fixture() {
      return fixture;
    }
  }

  @ExtendWith(LentFixture.class)
  static final class Drain extends DrainTck {
    private final ProviderFixture fixture;

    Drain(ProviderFixture fixture) {
      this.fixture = fixture;
    }

    @Override
    protected ProviderFixture fixture() {
      return fixture;
    }
  }

  @ExtendWith(LentFixture.class)
  static final class Epoch extends EpochTck {
    private final ProviderFixture fixture;

    Epoch(ProviderFixture fixture) {
      this.fixture = fixture;
    }

    @Override
    protected ProviderFixture fixture() {
      return fixture;
    }
  }

  @ExtendWith(LentFixture.class)
  static final class Revoke extends RevokeTck {
    private final ProviderFixture fixture;

    Revoke(ProviderFixture fixture) {
      this.fixture = fixture;
    }

    @Override
    protected ProviderFixture fixture() {
      return fixture;
    }
  }

  @ExtendWith(LentFixture.class)
  static final class Fault extends FaultTck {
    private final ProviderFixture fixture;

    Fault(ProviderFixture fixture) {
      this.fixture = fixture;
    }

    @Override
    protected ProviderFixture fixture() {
      return fixture;
    }
  }

  @ExtendWith(LentFixture.class)
  static final class Concurrency extends ConcurrencyTck {
    private final ProviderFixture fixture;

    Concurrency(ProviderFixture fixture) {
      this.fixture = fixture;
    }

    @Override
    protected ProviderFixture fixture() {
      return fixture;
    }
  }

  @ExtendWith(LentFixture.class)
  static final class Backpressure extends BackpressureTck {
    private final ProviderFixture fixture;

    Backpressure(ProviderFixture fixture) {
      this.fixture = fixture;
    }

    @Override
    protected ProviderFixture fixture() {
      return fixture;
    }
  }

  @ExtendWith(LentFixture.class)
  static final class CapabilityTruth extends CapabilityTruthTck {
    private final ProviderFixture fixture;

    CapabilityTruth(ProviderFixture fixture) {
      this.fixture = fixture;
    }

    @Override
    protected ProviderFixture fixture() {
      return fixture;
    }
  }

  @ExtendWith(LentFixture.class)
  static final class PluginPackaging extends PluginPackagingTck {
    private final ProviderFixture fixture;

    PluginPackaging(ProviderFixture fixture) {
      this.fixture = fixture;
    }

    @Override
    protected ProviderFixture fixture() {
      return fixture;
    }
  }
}
