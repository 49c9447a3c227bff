package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.spi.Provider;
import io.orbitkv.systemtests.rig.Command;
import io.orbitkv.systemtests.rig.LacksLibraryProvider;
import io.orbitkv.systemtests.rig.Rig;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The installed command with plugins that can not be used (BB-31): exit 1, one line with plugin,
 * path, reason and what there is instead, and never another backend.
 */
class PluginErrorsTest {
  private static final String PROVIDER_CLASS = "io/orbitkv/provider/tcp/OrbitteTcpProvider.class";

  @RegisterExtension final Rig rig = new Rig();

  private Path home = Path.of("");

  /** The distribution again, with plugins of its own. */
  @BeforeEach
  void install() throws IOException {
    Path real = Command.home();
    home = Files.createDirectory(rig.directory().resolve("home"));
    copy(real.resolve("bin"), home.resolve("bin"));
    Files.createSymbolicLink(home.resolve("lib"), real.resolve("lib"));
    copy(real.resolve("plugins"), home.resolve("plugins"));
  }

  // Guard: ProviderCatalog.whyNot telling of folders without a plugin.
  @Test
  void noPluginAtAll() throws IOException {
    Files.move(plugin(), rig.directory().resolve("elsewhere"));
    refuses("orbitte-tcp", home.resolve("plugins").toString(), "no provider can be used here");
  }

  // Guard: LoadedPlugin.findProviders turning ServiceConfigurationError into the plugin's fault;
  // ProviderCatalog.load going on with the next one.
  @Test
  void classIsMissingBesideAGoodOne() throws IOException {
    Path lacking = home.resolve("plugins/lacking");
    copy(plugin(), lacking);
    rewrite(lacking, "plugin.id=orbitte-tcp", "plugin.id=lacking");
    try (FileSystem jar = jar(lacking)) {
      Files.delete(jar.getPath(PROVIDER_CLASS));
    }
    refuses("lacking", lacking.toString(), "OrbitteTcpProvider", "there are: orbitte-tcp");
    Command providers = installed("providers").succeeded();
    assertThat(providers.out()).contains("orbitte-tcp", "lacking");
  }

  // Guard: PF4J's check of requires against the SPI's version, which needs setSystemVersion.
  @Test
  void versionIsTooNew() throws IOException {
    rewrite(plugin(), "plugin.requires=>=0.1.0", "plugin.requires=>=99.0.0");
    refuses("orbitte-tcp", plugin().toString(), "99.0.0", "no provider can be used here");
  }

  // Guard: BundledSpi.refuse.
  @Test
  void pluginCarriesItsOwnSpi() throws IOException {
    Path api;
    try (Stream<Path> jars = Files.list(Command.home().resolve("lib"))) {
      api =
          jars.filter(jar -> jar.getFileName().toString().startsWith("orbitkv-api"))
              .findFirst()
              .orElseThrow();
    }
    Files.copy(api, plugin().resolve("lib").resolve(api.getFileName()));
    refuses("orbitte-tcp", plugin().toString(), "its own copy of the SPI");
  }

  // Guard: LoadedPlugin.findProviders turning ServiceConfigurationError into the plugin's fault,
  // and
  // PluginFault.of telling which kind of fault UnsatisfiedLinkError is.
  @Test
  void nativeLibraryIsMissing() throws IOException {
    Path lacking = Files.createDirectories(home.resolve("plugins/lacking-library"));
    Files.createDirectory(lacking.resolve("lib"));
    Files.writeString(
        lacking.resolve("plugin.properties"),
        "plugin.id=lacking-library\nplugin.version=1.0.0\nplugin.requires=>=0.1.0\n");
    try (FileSystem jar =
        FileSystems.newFileSystem(
            URI.create("jar:" + lacking.resolve("lib/lacking.jar").toUri()),
            Map.of("create", "true"))) {
      String provider = LacksLibraryProvider.class.getName();
      Path file = jar.getPath(provider.replace('.', '/') + ".class");
      Files.createDirectories(file.getParent());
      try (InputStream bytes =
          LacksLibraryProvider.class.getResourceAsStream(
              LacksLibraryProvider.class.getSimpleName() + ".class")) {
        Files.write(file, Objects.requireNonNull(bytes).readAllBytes());
      }
      Path services = Files.createDirectories(jar.getPath("META-INF", "services"));
      Files.writeString(services.resolve(Provider.class.getName()), provider);
    }
    refuses(
        "lacking-library",
        lacking.toString(),
        "a native library is missing",
        "orbitkv-nonesuch",
        "there are: orbitte-tcp");
    assertThat(installed("providers").succeeded().out()).contains("orbitte-tcp", "lacking-library");
  }

  private void refuses(String backend, String... named) {
    Command manager =
        installed(
            "manager",
            "--pool-bytes",
            "1MiB",
            "--socket",
            rig.directory().resolve("refused.sock").toString(),
            "--registry-directory",
            rig.registry().toString(),
            "--peer-transfer-backend",
            backend);
    assertThat(manager.exit()).describedAs(manager.toString()).isIn(1, 2);
    List<String> lines =
        manager.err().lines().filter(line -> line.startsWith("orbitkv: ")).toList();
    assertThat(lines).describedAs(manager.toString()).hasSize(1);
    assertThat(lines.getFirst()).contains(backend).contains(named);
    assertThat(manager.err()).doesNotContain("\tat ");
    assertThat(manager.out()).isEmpty();
    assertThat(rig.directory().resolve("refused.sock")).doesNotExist();
  }

  private Command installed(String... arguments) {
    return rig.runIn(home, arguments);
  }

  private Path plugin() {
    return home.resolve("plugins/orbitte-tcp");
  }

  private static void rewrite(Path plugin, String from, String to) throws IOException {
    Path file = plugin.resolve("plugin.properties");
    String text = Files.readString(file);
    assertThat(text).contains(from);
    Files.writeString(file, text.replace(from, to));
  }

  private static FileSystem jar(Path plugin) throws IOException {
    try (Stream<Path> jars = Files.list(plugin.resolve("lib"))) {
      return FileSystems.newFileSystem(
          URI.create("jar:" + jars.findFirst().orElseThrow().toUri()), Map.of());
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }
}
