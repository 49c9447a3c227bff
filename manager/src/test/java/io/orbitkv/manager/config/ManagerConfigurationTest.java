package io.orbitkv.manager.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.ffm.PageSize;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ManagerConfigurationTest {
  @Test
  void defaultsAreThoseOfTheDesign() {
    ManagerConfiguration defaults = of(Map.of());

    assertThat(defaults.host()).isEqualTo("127.0.0.1");
    assertThat(defaults.publishedHost()).isEqualTo("127.0.0.1");
    assertThat(defaults.port()).isZero();
    assertThat(defaults.advertise()).isEmpty();
    assertThat(defaults.socket()).isEmpty();
    assertThat(defaults.socketPath(7600)).isEqualTo(Path.of("/tmp/orbitkv-127.0.0.1-7600.sock"));
    assertThat(defaults.socketMode()).isEqualTo(0600);
    assertThat(defaults.allowedUids()).isEmpty();
    assertThat(defaults.poolBytes()).isEqualTo(1L << 30);
    assertThat(defaults.backend()).isEqualTo("orbitte-tcp");
    assertThat(defaults.membership()).isEqualTo(MembershipKind.LOCAL);
    assertThat(defaults.digest()).isEqualTo(DigestPolicy.ASKED);
    assertThat(defaults.grantLifetime()).isEqualTo(Duration.ofSeconds(60));
    assertThat(defaults.retirementGrace()).isEqualTo(Duration.ofSeconds(5));
    assertThat(defaults.sourceCloseDeadline()).isEqualTo(Duration.ofSeconds(5));
    assertThat(defaults.operationDeadline()).isEqualTo(Duration.ofSeconds(10));
    assertThat(defaults.leaseLifetime()).isEqualTo(Duration.ofSeconds(60));
    assertThat(defaults.transferProgressTimeout()).isEqualTo(Duration.ofSeconds(5));
    assertThat(defaults.maxGrantsPerPeer()).isEqualTo(1024);
    assertThat(defaults.maxPinnedBytesPerPeer()).isEqualTo(1L << 28);
    assertThat(defaults.maxLiveBatches()).isEqualTo(1024);
    assertThat(defaults.maxDescriptorBytes()).isEqualTo(32L << 20);
    assertThat(defaults.maxReadBytes()).isEqualTo(64L << 20);
    assertThat(defaults.sessions()).isEqualTo(64);
  }

  @ParameterizedTest
  @CsvSource({
    "4096, 4096",
    "512KiB, 524288",
    "1.5 MiB, 1572864",
    "2GB, 2000003072",
    "1 gib, 1073741824",
    "4097, 8192",
  })
  void sizesHaveUnitsAndThePoolIsWholePages(String text, long bytes) {
    // Rounded up to pages of 4096 bytes: the figures are those of a machine with that page.
    assertThat(of(Map.of("pool-bytes", text)).poolBytes()).isEqualTo(PageSize.roundUp(bytes));
  }

  @ParameterizedTest
  @CsvSource({"500ms, 500000000", "60s, 60000000000", "2m, 120000000000", "1 h, 3600000000000"})
  void timesHaveUnits(String text, long nanos) {
    assertThat(of(Map.of("grant-lifetime", text)).grantLifetime().toNanos()).isEqualTo(nanos);
  }

  @Test
  void theSocketIsOfAnOwnerAndAGroup() {
    ManagerConfiguration configuration =
        of(Map.of("socket-owner", "1001", "socket-group", "4294967294"));
    assertThat(configuration.socketOwner()).hasValue(1001);
    assertThat(configuration.socketGroup()).hasValue(-2);
    assertThat(of(Map.of()).socketOwner()).isEmpty();
    assertThat(of(Map.of()).socketGroup()).isEmpty();
  }

  @Test
  void listsPathsAndAddresses() {
    ManagerConfiguration configuration =
        of(
            Map.of(
                "host", "FD00:0::7",
                "socket-mode", "0660",
                "allowed-uids", "1000, 1001",
                "plugin-dir", "/a:/b/../c",
                "socket", "/run/x.sock",
                "registry-directory", "/run/r",
                "peers", "[fd00:0:0::8]:7600,node9:7601"));

    assertThat(configuration.host()).isEqualTo("fd00::7");
    assertThat(configuration.socketMode()).isEqualTo(0660);
    assertThat(configuration.allowedUids()).containsExactlyInAnyOrder(1000L, 1001L);
    assertThat(configuration.pluginDirs()).containsExactly(Path.of("/a"), Path.of("/c"));
    assertThat(configuration.socketPath(1)).isEqualTo(Path.of("/run/x.sock"));
    assertThat(configuration.registryDirectory()).isEqualTo(Path.of("/run/r"));
    assertThat(configuration.membership()).isEqualTo(MembershipKind.STATIC);
    assertThat(configuration.peers())
        .extracting(HostPort::toString)
        .containsExactly("[fd00::8]:7600", "node9:7601");
  }

  @Test
  void aWildcardIsFineOnceSomethingElseIsPublished() {
    ManagerConfiguration configuration = of(Map.of("host", "::", "advertise", "10.0.0.7"));

    assertThat(configuration.host()).isEqualTo("::");
    assertThat(configuration.publishedHost()).isEqualTo("10.0.0.7");
    assertThat(configuration.advertise()).isEqualTo(Optional.of("10.0.0.7"));
  }

  @Test
  void loopbackPeersMayHaveALoopbackManager() {
    assertThat(of(Map.of("peers", "127.0.0.2:1,localhost:2,[::1]:3")).peers()).hasSize(3);
  }

  @Test
  void theRegistryIsInTheRuntimeFolder() {
    SettingValues values =
        SettingValues.resolve(Map.of(), Map.of("XDG_RUNTIME_DIR", "/run/user/7"), Map.of());

    assertThat(ManagerConfiguration.of(values).registryDirectory())
        .isEqualTo(Path.of("/run/user/7/orbitkv"));
    assertThat(of(Map.of()).registryDirectory().toString()).matches("/tmp/orbitkv-\\d+");
  }

  @Test
  void nicsAreForMooncakeAlone() {
    assertThat(
            ManagerConfiguration.of(
                    Map.of("peer-transfer-backend", "mooncake", "nics", "mlx5_0,mlx5_1"),
                    List.of(new OptionSpec("mooncake-nics", "NAME", "", "devices")))
                .providerOptions())
        .isEqualTo(Map.of("mooncake-nics", "mlx5_0,mlx5_1"));
    assertFault(
        Map.of("nics", "mlx5_0"),
        "--nics: 'mlx5_0' is for the provider mooncake alone, and the backend is orbitte-tcp;"
            + " remove it");
  }

  @Test
  void aNameIsRefusedWithTheAddressesThatItHas() {
    assertThatThrownBy(() -> of(Map.of("host", "localhost")))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageStartingWith("--host: 'localhost' is a name and not an IP address")
        .hasMessageContaining("127.0.0.1");
    assertFault(Map.of("host", "no-such-host.invalid"), "it does not resolve here");
  }

  @Test
  void aSocketPathOfMoreThan107BytesIsRefused() {
    String longest = "/" + "x".repeat(106);
    assertThat(of(Map.of("socket", longest)).socketPath(0)).isEqualTo(Path.of(longest));
    assertFault(
        Map.of("socket", longest + "x"), "has 108 bytes, and a Unix socket's path at most 107");
    assertFault(Map.of("socket", "/" + "\u00e4".repeat(54)), "has 109 bytes");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "host | 0.0.0.0 | is a wildcard, which no peer can connect to; name this host's address with --advertise",
        "host | :: | is a wildcard",
        "host | 224.0.0.1 | is a multicast address",
        "host | 10.1 | is not an IP address; write one as in 10.0.0.7 or fd00::7",
        "host | 10.0.0.1:7600 | is not an IP address",
        "host | 10.0.0.256 | is not an IP address",
        "advertise | 0.0.0.0 | is a wildcard",
        "port | 65536 | has no port from 0 to 65535",
        "port | -1 | has no port from 0 to 65535",
        "port | tcp://10.0.0.1:80 | is what Kubernetes sets for a service named orbitkv",
        "pool-bytes | 100 | is less than one page",
        "pool-bytes | 1XB | is not a size; write it as in 512MiB",
        "pool-bytes | 0 | is no size to work with",
        "pool-bytes | 99999999 TiB | is not a size",
        "pool-bytes | 2TiB | is more than 1 TiB",
        "pool-bytes | 1.3 B | is not a size",
        "peers | node7 | is not HOST:PORT; write it as in 10.0.0.7:7600",
        "peers | fd00::7:7600 | has an IPv6 address without brackets",
        "peers | [node7]:7600 | is a name and not an IP address",
        "peers | 10.0.0.7:0 | has no port from 1 to 65535",
        "peers | 10.0.0.7:7600,,node8:1 | --peers: '' is not HOST:PORT",
        "peers | -x-:7600 | has a host that is no name",
        "peers | 10.0.0.7:7600 | is a loopback address, and the peer 10.0.0.7:7600 can not connect to it; set --host",
        "membership | static | needs the other Managers; list them with --peers",
        "membership | etcd://h:1 | is not available in this version",
        "membership | gossip | is not one of local, static, none",
        "grant-lifetime | 60 | is not a time; write it with its unit, as in 500ms, 60s or 2m",
        "grant-lifetime | 0s | is no time to work with",
        "sessions | 0 | is not a whole number from 1 to 4096",
        "sessions | 4097 | is not a whole number from 1 to 4096",
        "queries | 0 | is not a whole number from 1 to 1000000",
        "sessions | many | is not a whole number",
        "socket-mode | 888 | is not a file mode",
        "allowed-uids | root | is not a numeric user id",
        "allowed-uids | 4294967295 | is not a numeric user id",
        "socket-owner | root | is not a numeric user id",
        "socket-group | 4294967295 | is not a numeric group id; 'id -g NAME' prints it",
        "peer-transfer-backend | Orbitte TCP | is not a provider's name",
        "log-level | loud | is not one of error, warn, info, debug, trace",
        "digest | off | is not one of asked, always",
        "log-format | xml | is not one of text, json",
      })
  void aWrongValueIsRefusedWithItsCauseAndFix(String name, String text, String fault) {
    assertFault(Map.of(name, text), fault);
  }

  @Test
  void settingsThatContradictEachOtherAreRefused() {
    assertFault(
        Map.of("membership", "local", "peers", "127.0.0.1:1"), "does not use --peers (127.0.0.1:1");
    assertFault(
        Map.of("membership", "none", "port", "7600"),
        "--port: '7600' is not used, as membership none starts no control listener; remove it");
    assertFault(
        Map.of("queries", "8", "queries-per-session", "9"),
        "--queries-per-session: '9' is more than --queries, 8");
  }

  @Test
  void anIpv6HostMayStandInBrackets() {
    assertThat(of(Map.of("host", "[::1]")).host()).isEqualTo("::1");
    assertThat(of(Map.of("host", "[::]", "advertise", "[fd00::7]")).publishedHost())
        .isEqualTo("fd00::7");
    assertFault(Map.of("host", "[127.0.0.1]"), "is not an IP address");
  }

  @Test
  void withoutAPortTheSocketNamesTheProcess() {
    long pid = ProcessHandle.current().pid();
    assertThat(of(Map.of("membership", "none")).socketPath(0))
        .isEqualTo(Path.of("/tmp/orbitkv-127.0.0.1-pid" + pid + ".sock"));
  }

  @Test
  void aPoolThatTheMachineCanNotGiveIsRefused() {
    assertFault(Map.of("pool-bytes", "1TiB"), "is more than this ");
    assertFault(Map.of("pool-bytes", "1TiB"), " has available, ");
    assertFault(Map.of("pool-bytes", "1TiB"), "GiB; make it at most ");
  }

  private static ManagerConfiguration of(Map<String, String> values) {
    return ManagerConfiguration.of(values, List.of());
  }

  private static void assertFault(Map<String, String> values, String fault) {
    assertThatThrownBy(() -> of(values))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining(fault)
        .satisfies(e -> assertThat(e.getMessage()).matches("(--|host \\(default\\)).*"));
  }
}
