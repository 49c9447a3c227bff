package io.orbitkv.manager.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.spi.OptionSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingValuesTest {
  private static final Map<String, List<OptionSpec>> PROVIDERS =
      Map.of(
          "orbitte-tcp",
          List.of(
              new OptionSpec("orbitte-tcp-port", "PORT", "0", "port"),
              new OptionSpec("orbitte-tcp-connections", "N", "4", "connections")),
          "mooncake",
          List.of(new OptionSpec("mooncake-lib-dir", "DIR", "", "folder")));

  @TempDir private Path work;

  @Test
  void aFlagWinsOverTheEnvironmentThatOverTheFileAndThatOverTheDefault() throws IOException {
    Path file = file("pool-bytes=3MiB\nport = 7003\nsessions: 3\norbitte-tcp-port 9003\n");
    Map<String, String> environment =
        Map.of(
            "ORBITKV_CONFIG", file.toString(),
            "ORBITKV_POOL_BYTES", "2MiB",
            "ORBITKV_PORT", "7002",
            "ORBITKV_ORBITTE_TCP_CONNECTIONS", "2");

    SettingValues values =
        SettingValues.resolve(Map.of("pool-bytes", "1MiB"), environment, PROVIDERS);

    assertThat(values.value(Settings.POOL_BYTES))
        .isEqualTo(new SettingValue("pool-bytes", "1MiB", SettingOrigin.FLAG, "--pool-bytes"));
    assertThat(values.value(Settings.PORT))
        .isEqualTo(new SettingValue("port", "7002", SettingOrigin.ENVIRONMENT, "ORBITKV_PORT"));
    assertThat(values.value(Settings.SESSIONS))
        .isEqualTo(new SettingValue("sessions", "3", SettingOrigin.FILE, file + ":3"));
    assertThat(values.value(Settings.GRANT_LIFETIME))
        .isEqualTo(new SettingValue("grant-lifetime", "60s", SettingOrigin.DEFAULT, ""));
    ManagerConfiguration configuration = ManagerConfiguration.of(values);
    assertThat(configuration.poolBytes()).isEqualTo(1 << 20);
    assertThat(configuration.port()).isEqualTo(7002);
    assertThat(configuration.sessions()).isEqualTo(3);
    assertThat(configuration.providerOptions())
        .isEqualTo(Map.of("orbitte-tcp-port", "9003", "orbitte-tcp-connections", "2"));
  }

  @Test
  void theFlagForTheFileWinsOverItsVariable() throws IOException {
    Path first = file("sessions=1\n");
    Path second = Files.writeString(work.resolve("second"), "sessions=2\n");

    SettingValues values =
        SettingValues.resolve(
            Map.of("config", second.toString()),
            Map.of("ORBITKV_CONFIG", first.toString()),
            PROVIDERS);

    assertThat(values.get(Settings.SESSIONS)).isEqualTo(2);
  }

  @Test
  void everySettingHasItsPlaceInTheListOfAll() {
    SettingValues values = SettingValues.resolve(Map.of(), Map.of(), PROVIDERS);

    assertThat(values.all())
        .extracting(SettingValue::name)
        .startsWith("host", "port")
        .contains("pool-bytes", "peer-transfer-backend", "log-level")
        .endsWith("orbitte-tcp-port", "orbitte-tcp-connections")
        .doesNotHaveDuplicates()
        .hasSize(Settings.ALL.size() + 2);
  }

  @Test
  void anUnknownKeyIsAnErrorWithItsLineAndTheClosestKnownOne() throws IOException {
    Path file = file("# mine\n\npool-bites=1GiB\n");

    assertFault(file, file + ":3: unknown key 'pool-bites'; the closest known one is 'pool-bytes'");
  }

  @Test
  void continuedLinesCommentsAndEscapesAreThoseOfProperties() throws IOException {
    Path file =
        file("! a comment \\\npeers=10.0.0.1:7600,\\\n   10.0.0.2:7600\n\nhost=10.0.0.9\nnope=\n");

    assertFault(file, file + ":6: unknown key 'nope'");
    SettingValues values = SettingValues.beforePlugins(Map.of("config", file.toString()), Map.of());
    assertThat(values.list(Settings.PEERS))
        .containsExactly(new HostPort("10.0.0.1", 7600), new HostPort("10.0.0.2", 7600));
    assertThat(values.value(Settings.PEERS).place()).isEqualTo(file + ":2");
  }

  @Test
  void aKeyTwiceIsAnError() throws IOException {
    Path file = file("port=1\nport=2\n");

    assertFault(file, file + ":2: key 'port' was set at " + file + ":1; remove one of the two");
  }

  @Test
  void aFileThatCanNotBeReadIsAnError() throws IOException {
    assertFault(work.resolve("nowhere"), "configuration file " + work.resolve("nowhere"));
    Path binary = Files.write(work.resolve("binary"), new byte[] {(byte) 0xFF, (byte) 0xFE});
    assertFault(binary, "it is not UTF-8 text; save it as UTF-8");
    assertFault(file("host=\\u12\n"), "write a backslash as \\\\");
    assertFault(work, "it can not be read");
  }

  @Test
  void anOptionOfAnotherProviderIsAnErrorThatNamesBoth() throws IOException {
    String cause =
        "it is an option of the provider mooncake, but the backend is orbitte-tcp; remove it, or"
            + " set --peer-transfer-backend mooncake";
    assertThatThrownBy(
            () -> SettingValues.resolve(Map.of("mooncake-lib-dir", "/x"), Map.of(), PROVIDERS))
        .hasMessage("--mooncake-lib-dir: " + cause);
    assertThatThrownBy(
            () ->
                SettingValues.resolve(
                    Map.of(), Map.of("ORBITKV_MOONCAKE_LIB_DIR", "/x"), PROVIDERS))
        .hasMessage("mooncake-lib-dir (ORBITKV_MOONCAKE_LIB_DIR): " + cause);
    Path file = file("mooncake-lib-dir=/x\n");
    assertFault(file, "mooncake-lib-dir (" + file + ":1): " + cause);
  }

  @Test
  void theOptionsOfAnyProviderAreKnownBeforeTheBackendIs() throws IOException {
    Path file = file("mooncake-lib-dir=/x\n");
    SettingValues values =
        SettingValues.beforePlugins(
            Map.of(), Map.of("ORBITKV_CONFIG", file.toString(), "ORBITKV_ORBITTE_TCP_PORT", "9"));

    assertThat(values.optionsOf(List.copyOf(PROVIDERS.getOrDefault("mooncake", List.of()))))
        .isEqualTo(Map.of("mooncake-lib-dir", "/x"));
    assertThat(values.optionsOf(PROVIDERS.getOrDefault("orbitte-tcp", List.of())))
        .isEqualTo(Map.of("orbitte-tcp-port", "9", "orbitte-tcp-connections", "4"));
  }

  @Test
  void aCommentBehindAValueIsRefusedAndAnEscapedHashIsNot() throws IOException {
    assertFault(
        file("\nsessions=3 # few\n"), work.resolve("orbitkv.properties") + ":2: a comment stands");
    SettingValues values =
        SettingValues.beforePlugins(
            Map.of("config", file("socket=/run/a \\#1.sock\n  # mine\n").toString()), Map.of());
    assertThat(values.value(Settings.SOCKET).text()).isEqualTo("/run/a #1.sock");
  }

  @Test
  void misspeltVariablesAreNamedWithTheNearestKnownOne() {
    Map<String, String> environment =
        Map.of(
            "ORBITKV_POOL_BITES", "1GiB",
            "ORBITKV_ORBITTE_TCP_PROT", "1",
            "ORBITKV_POOL_BYTES", "1MiB",
            "ORBITKV_JAVA_OPTS", "-Xmx1g",
            "ORBITKV_SERVICE_HOST_OF_SOMEBODY", "10.0.0.1");

    assertThat(SettingValues.resolve(Map.of(), environment, PROVIDERS).misspeltVariables())
        .contains(
            "environment variables that are not read: ORBITKV_ORBITTE_TCP_PROT (did you mean"
                + " ORBITKV_ORBITTE_TCP_PORT?), ORBITKV_POOL_BITES (did you mean"
                + " ORBITKV_POOL_BYTES?); rename or unset them");
    assertThat(SettingValues.resolve(Map.of(), Map.of(), PROVIDERS).misspeltVariables()).isEmpty();
  }

  @Test
  void defaultsThatFollowFromOthersAreShown() {
    assertThat(shown(Map.of()))
        .contains(
            SettingValue.ofDefault("advertise", "127.0.0.1"),
            SettingValue.ofDefault("socket", "derived at start"),
            SettingValue.ofDefault("max-pinned-bytes-per-peer", "256MiB"));
    assertThat(shown(Map.of("host", "::1", "port", "7600", "advertise", "10.0.0.1")))
        .contains(
            SettingValue.flag("advertise", "10.0.0.1"),
            SettingValue.ofDefault("socket", "/tmp/orbitkv-::1-7600.sock"));
  }

  private static List<SettingValue> shown(Map<String, String> flags) {
    return SettingValues.resolve(flags, Map.of(), PROVIDERS).all();
  }

  private Path file(String text) throws IOException {
    return Files.writeString(work.resolve("orbitkv.properties"), text, StandardCharsets.UTF_8);
  }

  private static void assertFault(Path file, String start) {
    assertThatThrownBy(
            () -> SettingValues.resolve(Map.of("config", file.toString()), Map.of(), PROVIDERS))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining(start);
  }
}
