package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Probe;
import io.orbitkv.api.spi.Provider;
import io.orbitkv.api.spi.Registration;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Opening, registering, closing; options and addresses. */
class LifecycleTest {
  @Test
  void threadsAndDescriptorsAreBackAtTheStart() throws IOException {
    round();
    long descriptors = descriptors();
    long threads = threads();
    for (int i = 0; i < 5; i++) {
      round();
    }
    assertThat(threads()).isEqualTo(threads);
    assertThat(threads).isZero();
    Await.until("descriptors", () -> descriptors() == descriptors);
  }

  private static void round() {
    try (Host owner = Host.open();
        Host requester = Host.open("connections", "4")) {
      Region source = owner.filled(100_000, 1);
      Region target = requester.registered(100_000);
      Peer peer = requester.connect(owner);
      var remote = peer.importRegion(owner.admitWhole(requester, source).wireForm());
      var ticket =
          requester.read(
              peer,
              Batch.from(remote)
                  .add(Descriptor.of(target.id(), 0, 9), RemoteDescriptor.of(0, 0, 9))
                  .build());
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
    }
  }

  private static long descriptors() {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("tcp-"))
        .count();
  }

  @Test
  void registrationIsCheckedAndClosedOnce() {
    try (Host host = Host.open();
        Arena confined = Arena.ofConfined()) {
      Region region = host.region(4_096, Permission.READ_WRITE);
      Registration registration = host.transport.register(region);
      assertThat(registration.region()).isEqualTo(region);
      assertThat(registration.describe()).isEmpty();
      assertCode(FaultCode.IN_USE, () -> host.transport.register(region));
      assertCode(FaultCode.IN_USE, host.transport::close);
      registration.revoke();
      registration.close();
      assertThatThrownBy(registration::close).isInstanceOf(IllegalStateException.class);
      host.transport.register(region).close();
      assertCode(
          FaultCode.UNSUPPORTED,
          () -> host.transport.register(with(region.memory(), MemoryKind.cuda(0))));
      // Guard: each check of RegionTable; without it the first receive fails in its thread.
      assertCode(
          FaultCode.INVALID,
          () -> host.transport.register(with(confined.allocate(8), MemoryKind.HOST)));
      assertCode(
          FaultCode.INVALID,
          () -> host.transport.register(with(MemorySegment.ofArray(new byte[8]), MemoryKind.HOST)));
      assertCode(
          FaultCode.INVALID,
          () -> host.transport.register(with(region.memory().asReadOnly(), MemoryKind.HOST)));
    }
  }

  private static Region with(MemorySegment memory, MemoryKind kind) {
    return new Region(
        new RegionId(-7, 1), -1, 0, memory, kind, Permission.READ_WRITE, Region.Backing.BORROWED);
  }

  @Test
  void closedTransportTakesNothing() {
    Host host = Host.open();
    Region region = host.region(8, Permission.READ);
    host.close();
    host.transport.close();
    host.transport.quiesce();
    assertCode(FaultCode.CLOSING, () -> host.transport.register(region));
    assertCode(FaultCode.CLOSING, () -> host.connect(host));
  }

  @Test
  void portInUseIsNamed() {
    try (Host host = Host.open()) {
      String taken = "127.0.0.1:" + host.transport.endpoint().getPort();
      assertThatThrownBy(() -> Host.open("listen", taken))
          .isInstanceOf(TransportException.class)
          .hasMessageContaining(taken)
          .hasMessageContaining("EADDRINUSE");
      assertThat(threads()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "connections,0", "connections,65", "connections,two", "window-bytes,-1",
    "request-bytes,4095", "request-bytes,8388609", "congestion,no such", "congestion,nosuch",
    "receive-buffer,-1", "listen,127.0.0.1", "listen,localhost:1", "listen,127.0.0.1:65536",
    "listen,0.0.0.0:0", "listen,[::]:0", "listen,::1", "listen,[127.0.0.1]:0"
  })
  void badOptionIsRefusedInOneLine(String name, String value) {
    assertThatThrownBy(() -> Host.open(name, value))
        .isInstanceOfSatisfying(
            TransportException.class,
            e -> {
              assertThat(e.code()).isEqualTo(FaultCode.INVALID);
              assertThat(e.getMessage()).contains("orbitte-tcp-" + name).doesNotContain("\n");
            });
    assertThat(threads()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tcp://127.0.0.1:1", "orbitte+tcp://127.0.0.1", "orbitte+tcp://127.0.0.1:0",
        "orbitte+tcp://host:1", "orbitte+tcp://127.0.0.1:1/x", "orbitte+tcp://127.0.0.1:1?x",
        "orbitte+tcp:127.0.0.1:1"
      })
  void badEndpointIsRefused(String endpoint) {
    try (Host host = Host.open()) {
      assertCode(
          FaultCode.INVALID,
          () -> host.transport.connect(URI.create(endpoint), Epoch.random(), new byte[0]));
    }
  }

  @Test
  void isFoundAsAServiceAndDescribesItself() {
    Provider provider = ServiceLoader.load(Provider.class).findFirst().orElseThrow();
    assertThat(provider).isInstanceOf(OrbitteTcpProvider.class);
    assertThat(provider.name()).isEqualTo("orbitte-tcp");
    assertThat(provider.options())
        .extracting(OptionSpec::name)
        .allSatisfy(name -> assertThat(name).startsWith("orbitte-tcp-"));
    assertThat(provider.probe(Map.of("orbitte-tcp-connections", "x")).usable()).isFalse();
  }

  @Test
  void anAddressThatCanNotBeListenedOnIsNamedWithItsPortAndOneFix() {
    // An address for documentation: no host has it.
    Probe probe = new OrbitteTcpProvider().probe(Map.of("orbitte-tcp-listen", "192.0.2.1:99"));
    assertThat(probe.usable()).isFalse();
    assertThat(probe.detail())
        .isEqualTo(
            "orbitte-tcp can not listen on 192.0.2.1:99: Cannot assign requested address"
                + " (EADDRNOTAVAIL)");
    assertThat(probe.fix()).isEqualTo("name an address of this host in orbitte-tcp-listen");
  }

  private static void assertCode(FaultCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(code));
  }
}
