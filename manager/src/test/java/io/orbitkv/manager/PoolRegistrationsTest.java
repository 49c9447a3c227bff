package io.orbitkv.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RegistrationState;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.tck.reference.ReferenceContext;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** BB-27: a provider that registers only a part of what it is asked to. */
class PoolRegistrationsTest {
  private static final long BYTES = 4_096;

  @TempDir private Path folder;
  private final FlakyProvider provider = new FlakyProvider();
  private final Transport transport = provider.open(ReferenceContext.create());
  private final PoolRegistrations registrations = new PoolRegistrations(transport, "flaky");
  private final List<Region> three =
      LongStream.rangeClosed(1, 3).mapToObj(PoolRegistrationsTest::region).toList();

  private static Region region(long number) {
    return new Region(
        new RegionId(number, 1),
        -1,
        0,
        Arena.ofAuto().allocate(BYTES),
        MemoryKind.HOST,
        Permission.READ_WRITE,
        Region.Backing.BORROWED);
  }

  private static void assertFails(FaultCode code, String message, ThrowingCallable call) {
    assertThatThrownBy(call)
        .hasMessageContaining(message)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  private void assertNothingRegistered() {
    assertThat(registrations.states()).isEmpty();
    // The provider's word: each could be registered anew, and the engine ends.
    three.forEach(region -> transport.register(region).close());
  }

  // Guard: PoolRegistrations.failed closing those before.
  @Test
  void theFirstIsRolledBackIfTheSecondOfThreeFails() {
    provider.refuseRegistration(2);
    assertFails(
        FaultCode.DEVICE,
        "flaky did not register arena 2 of 3",
        () -> registrations.register(three));
    assertNothingRegistered();
    registrations.register(three);
    assertThat(registrations.states()).isEqualTo(Map.of(RegistrationState.REGISTERED, 3));
    registrations.close();
    transport.close();
  }

  // Guard: an entry whose close failed stays, and is named; nothing says that all is well.
  @Test
  void aRollbackThatFailsIsNamedAndCanBeRepeated() {
    provider.refuseRegistration(3);
    provider.refuseCloses(1);
    assertFails(
        FaultCode.DEVICE,
        "still registered at flaky, and mapped: " + three.get(1).id(),
        () -> registrations.register(three));
    assertThat(registrations.states()).isEqualTo(Map.of(RegistrationState.REVOKED, 1));
    assertFails(FaultCode.IN_USE, "", transport::close);
    registrations.close();
    assertNothingRegistered();
    transport.close();
  }

  // Guard: close() going on after the first that fails.
  @Test
  void oneThatStaysDoesNotKeepTheOthers() {
    registrations.register(three);
    provider.refuseCloses(1);
    assertFails(FaultCode.DEVICE, three.get(2).id().toString(), registrations::close);
    assertThat(registrations.states()).isEqualTo(Map.of(RegistrationState.REVOKED, 1));
    registrations.close();
    assertNothingRegistered();
  }

  // Guard: what a provider threw against its contract counts as perhaps registered, for ever.
  @Test
  void aDefectOfTheProviderProvesNothing() {
    provider.throwAfterRegistering();
    assertFails(FaultCode.INTERNAL, "(perhaps)", () -> registrations.register(three));
    assertFails(FaultCode.QUARANTINED, three.getFirst().id().toString(), registrations::close);
  }

  // Guard: PoolRegistrations.register catching LinkageError, and null.
  @Test
  void aLibraryThatIsMissingOrANullIsOneLineAndTheRegionIsUnknown() {
    provider.tripIn(FlakyProvider.Throws.REGISTER);
    assertFails(
        FaultCode.INTERNAL,
        "provider flaky: its register() threw java.lang.UnsatisfiedLinkError: no flaky in the path",
        () -> registrations.register(three));
    assertFails(FaultCode.QUARANTINED, "(perhaps)", registrations::close);

    PoolRegistrations others = new PoolRegistrations(transport, "flaky");
    provider.tripIn(FlakyProvider.Throws.NOTHING);
    provider.registerNull();
    assertFails(FaultCode.INTERNAL, "null", () -> others.register(three));
    assertFails(FaultCode.QUARANTINED, three.getFirst().id().toString(), others::close);
  }

  // Guard: PoolRegistrations.attempt catching RuntimeException, of revoke() and of close().
  @ParameterizedTest
  @EnumSource(
      value = FlakyProvider.Throws.class,
      names = {"REVOKE", "CLOSE_OF_REGISTRATION"})
  void whatThrowsAgainstTheContractStaysRegisteredAndIsNamed(FlakyProvider.Throws call) {
    registrations.register(three);
    provider.tripIn(call);
    assertFails(FaultCode.INTERNAL, three.getFirst().id().toString(), registrations::close);
    assertFails(FaultCode.INTERNAL, "tripped in " + call, registrations::close);
    assertThat(registrations.states().values()).containsExactly(3);
    provider.tripIn(FlakyProvider.Throws.NOTHING);
    registrations.close();
    assertNothingRegistered();
  }

  private ManagerConfiguration configuration() {
    return ManagerConfiguration.of(
        Map.of(
            "pool-bytes",
            "1MiB",
            "peer-transfer-backend",
            "reference",
            "socket",
            folder.resolve("m.sock").toString(),
            "registry-directory",
            folder.resolve("registry").toString()),
        provider.options());
  }

  private static long mappedArenas() throws IOException {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(line -> line.contains("memfd:orbitkv-arena")).count();
    }
  }

  // Guard: Manager.start ending engine and pool when the registration failed.
  @Test
  void aManagerThatCouldNotRegisterLeavesNothingAndStartsLater() throws Exception {
    long before = mappedArenas();
    provider.refuseRegistration(1);
    assertFails(
        FaultCode.DEVICE,
        "reference did not register arena 1 of 1 (1048576 bytes): the device has no room",
        () -> Manager.start(configuration(), provider));
    assertThat(mappedArenas()).isEqualTo(before);
    Manager manager = Manager.start(configuration(), provider);
    assertThat(manager.statusJson()).contains("\"registrations\":{\"registered\":1,\"revoked\":0}");
    assertThat(manager.shutdown().clean()).isTrue();
    assertThat(mappedArenas()).isEqualTo(before);
  }

  // Guard: Manager.endAfter unmapping only behind a close that succeeded.
  @Test
  void memoryThatAProviderMayStillTouchStaysMapped() throws Exception {
    long before = mappedArenas();
    provider.throwAfterRegistering();
    assertFails(
        FaultCode.INTERNAL,
        "registered, and then tripped",
        () -> Manager.start(configuration(), provider));
    assertThat(mappedArenas()).isEqualTo(before + 1);
  }

  // Guard: a shutdown whose unregistering fails keeps the pool mapped and says so.
  @Test
  void aShutdownThatCanNotUnregisterSaysWhatItLeft() throws Exception {
    long before = mappedArenas();
    Manager manager = Manager.start(configuration(), provider);
    provider.refuseCloses(1);
    assertThat(manager.shutdown().held())
        .singleElement()
        .asString()
        .contains("still registered at reference", "the device does not answer");
    assertThat(mappedArenas()).isEqualTo(before + 1);
  }

  // Guard: Engine.open wrapping what is thrown, so that the pool is unmapped.
  @Test
  void aProviderWhoseLibraryIsMissingIsToldInOneLine() throws Exception {
    long before = mappedArenas();
    provider.tripIn(FlakyProvider.Throws.OPEN);
    assertFails(
        FaultCode.INTERNAL,
        "provider reference: its open() threw java.lang.UnsatisfiedLinkError: no flaky in the path;"
            + " install",
        () -> Manager.start(configuration(), provider));
    assertThat(mappedArenas()).isEqualTo(before);
  }

  // Guard: Withdrawal.step, and Withdrawal.release catching RuntimeException.
  @ParameterizedTest
  @EnumSource(
      value = FlakyProvider.Throws.class,
      names = {"REVOKE", "CLOSE_OF_REGISTRATION", "QUIESCE", "CLOSE_SOURCE"})
  void aProviderThatThrowsAtTheEndKeepsNothingElseFromEnding(FlakyProvider.Throws call)
      throws Exception {
    long before = mappedArenas();
    Manager manager = Manager.start(configuration(), provider);
    provider.tripIn(call);
    ShutdownReport report = manager.shutdown();
    manager.awaitShutdown();
    assertThat(report.clean()).isFalse();
    List<String> told = new ArrayList<>(report.failures());
    told.addAll(report.held());
    assertThat(told).anySatisfy(line -> assertThat(line).contains("tripped in " + call));
    assertThat(told).allSatisfy(line -> assertThat(line).doesNotContain("\n"));
    assertThat(Path.of(manager.socketPath().toString())).doesNotExist();
    // Unmapped only if all registrations are proven to be closed.
    assertThat(mappedArenas())
        .isEqualTo(call == FlakyProvider.Throws.CLOSE_SOURCE ? before : before + 1);
  }

  // Guard: Manager.checkFree looking at the registry before the pool is made.
  @Test
  void aRegistryThatIsOpenToOthersIsToldBeforeThePoolIsMade() throws Exception {
    Path registry = Files.createDirectory(folder.resolve("registry"));
    Files.setPosixFilePermissions(registry, PosixFilePermissions.fromString("rwxr-x---"));
    provider.tripIn(FlakyProvider.Throws.OPEN);
    assertFails(
        FaultCode.DENIED,
        ": chmod 700 " + registry,
        () -> Manager.start(configuration(), provider));
  }
}
