package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.Side;
import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.SpiVersion;
import io.orbitkv.api.spi.Ticket;
import io.orbitkv.api.spi.TransportProvider;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a provider says of itself is so, and what it does not say it refuses. */
public abstract class CapabilityTruthTck extends ProviderTck {
  /** For subclasses. */
  protected CapabilityTruthTck() {}

  @Test
  void describesItself() {
    TransportProvider provider = fixture().provider();
    assertThat(provider.name()).matches("[a-z][a-z0-9]*(-[a-z0-9]+)*").isEqualTo(provider.name());
    assertThat(provider.version()).isNotBlank();
    assertThat(SpiVersion.CURRENT.supports(provider.spiVersion()))
        .as("SPI version %s on %s", provider.spiVersion(), SpiVersion.CURRENT)
        .isTrue();
    Set<String> names = new HashSet<>();
    for (OptionSpec option : provider.options()) {
      assertThat(option.name()).startsWith(provider.name() + "-");
      assertThat(option.description()).isNotBlank().doesNotContain("\n");
      assertThat(names.add(option.name())).as("%s is named once", option.name()).isTrue();
    }
  }

  @Test
  void defaultsAreAcceptableAndAbsentOptionsMeanThem() {
    TransportProvider provider = fixture().provider();
    Map<String, String> defaults = new HashMap<>();
    provider.options().forEach(option -> defaults.put(option.name(), option.defaultValue()));
    assertThat(provider.capabilities(defaults)).isEqualTo(provider.capabilities(Map.of()));
  }

  @Test
  void openedEngineKeepsWhatTheProviderPromised() {
    Capabilities promised = fixture().provider().capabilities(pair().owner().context().options());
    Capabilities kept = pair().owner().transport().capabilities();
    assertThat(kept.memory()).containsAll(promised.memory());
    assertThat(kept.maxReadBytes()).isGreaterThanOrEqualTo(promised.maxReadBytes());
    assertThat(kept.maxDescriptors()).isGreaterThanOrEqualTo(promised.maxDescriptors());
    for (Side side : Side.values()) {
      assertThat(kept.evidence(side)).containsAll(promised.evidence(side));
      assertThat(promised.evidence(side)).as("evidence for %s", side).isNotEmpty();
    }
  }

  @Test
  void whatIsDeclinedIsNotPromised() {
    Capabilities promised = fixture().provider().capabilities(pair().owner().context().options());
    assertThat(promised.cancels())
        .as("capabilities say cancels; the fixture declines CANCEL")
        .isEqualTo(!declines(Behaviour.CANCEL));
    assertThat(promised.strided())
        .as("capabilities say strided; the fixture declines STRIDED")
        .isEqualTo(!declines(Behaviour.STRIDED));
    fixture()
        .declined()
        .forEach((behaviour, reason) -> assertThat(reason).as("%s", behaviour).isNotBlank());
  }

  @Test
  void evidenceIsWhatWasDeclared() {
    Exchange exchange = new Exchange(pair(), 8_192);
    Ticket ticket = exchange.read();
    var _ = Await.outcome(ticket);
    Evidence destination = pair().requester().spend(ticket);
    assertThat(pair().requester().transport().capabilities().evidence(Side.DESTINATION))
        .contains(destination);
  }

  @Test
  void batchOfTooManyPiecesIsRefused() {
    Exchange exchange = new Exchange(pair(), 4_096);
    int most = pair().requester().transport().capabilities().maxDescriptors();
    Batch.Builder batch = Batch.from(exchange.grant());
    for (int i = 0; i <= most; i++) {
      batch.add(
          Descriptor.of(exchange.target.id(), i % 4_096, 1), RemoteDescriptor.of(0, i % 4_096, 1));
    }
    Batch tooMany = batch.build();
    assertRefused(FaultCode.INVALID, () -> pair().requester().read(exchange.peer, tooMany));
    assertThat(pair().requester().context().places()).isZero();
    exchange.to.assertStays("destination", exchange.all(Exchange.BEFORE), WATCH_NANOS);
  }

  @Test
  void batchOfTooManyBytesIsRefused() {
    Capabilities limits = pair().requester().transport().capabilities();
    // The same bytes again and again: larger than the limit without that much memory.
    long size = Math.max(1 << 20, limits.maxReadBytes() / limits.maxDescriptors() + 1);
    long entries = limits.maxReadBytes() / size + 1;
    Exchange exchange = new Exchange(pair(), size);
    Batch.Builder batch = Batch.from(exchange.grant());
    for (long i = 0; i < entries; i++) {
      batch.add(Descriptor.of(exchange.target.id(), 0, size), RemoteDescriptor.of(0, 0, size));
    }
    Batch tooMuch = batch.build();
    assertRefused(FaultCode.INVALID, () -> pair().requester().read(exchange.peer, tooMuch));
    exchange.to.assertStays("destination", exchange.all(Exchange.BEFORE), WATCH_NANOS);
  }
}
