package io.orbitkv.manager.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Probe;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProviderCatalogTest {
  @TempDir Path work;
  private Path plugins;

  @BeforeEach
  void folders() throws IOException {
    plugins = Files.createDirectories(work.resolve("plugins"));
  }

  @Test
  void loadsFoldersAndJarsInTheOrderOfTheirNames() throws IOException {
    SamplePlugin.named(work, "beta").jar(plugins);
    SamplePlugin.named(work, "alpha").folder(plugins);

    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins))) {
      assertThat(catalog.broken()).isEmpty();
      assertThat(catalog.providers())
          .extracting(LoadedProvider::name)
          .containsExactly("alpha", "beta");
      LoadedProvider alpha = catalog.select("alpha");
      assertThat(alpha.version()).isEqualTo("0.9");
      assertThat(alpha.probe(Map.of())).isEqualTo(Probe.usable("fine"));
      assertThat(alpha.path()).isEqualTo(plugins.resolve("alpha"));
      assertThat(catalog.options()).containsOnlyKeys("alpha", "beta");
    }
  }

  @Test
  void onePluginMayBeNamedDirectly() throws IOException {
    Path folder = SamplePlugin.named(work, "alpha").folder(plugins);
    Path jar = SamplePlugin.named(work, "beta").jar(plugins);

    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(folder, jar))) {
      assertThat(catalog.broken()).isEmpty();
      assertThat(catalog.providers()).hasSize(2);
    }
  }

  @Test
  void anUnknownNameIsAnErrorThatNamesWhatThereIs() throws IOException {
    SamplePlugin.named(work, "alpha").folder(plugins);

    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins))) {
      assertThatThrownBy(() -> catalog.select("gamma"))
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.NOT_FOUND))
          .hasMessage(
              "provider gamma: no plugin has it; there are: alpha; add the folder of its plugin with"
                  + " --plugin-dir");
    }
  }

  @Test
  void anEmptyFolderIsTold() {
    BrokenPlugin broken = onlyBroken(plugins);

    assertThat(broken.path()).isEqualTo(plugins);
    assertThat(broken.reason()).isEqualTo("the folder has no plugin in it");
    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins))) {
      assertThatThrownBy(() -> catalog.select("alpha"))
          .hasMessageContaining("the folder has no plugin in it")
          .hasMessageContaining("no provider can be used here");
    }
  }

  @Test
  void aFolderThatIsMissingAFileOrUnreadableIsTold() throws IOException {
    assertThat(onlyBroken(work.resolve("nowhere")).reason()).isEqualTo("there is no such folder");
    assertThat(onlyBroken(Files.createFile(work.resolve("file"))).reason())
        .isEqualTo("it is a file");
    Path loop = work.resolve("loop");
    Files.createSymbolicLink(loop, loop);
    assertThat(onlyBroken(loop).reason()).containsAnyOf("can not be read", "no such folder");
  }

  @Test
  void whatIsNoPluginIsToldAndAPackedOneToo() throws IOException {
    Files.createDirectories(plugins.resolve("something/lib"));
    Files.writeString(plugins.resolve("broken.jar"), "no zip");
    Files.writeString(plugins.resolve("packed.zip"), "whatever");
    Files.writeString(plugins.resolve("README.txt"), "ignored");
    SamplePlugin.named(work, "alpha").folder(plugins);

    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins))) {
      assertThat(catalog.providers()).extracting(LoadedProvider::name).containsExactly("alpha");
      assertThat(catalog.broken())
          .extracting(BrokenPlugin::id)
          .containsExactlyInAnyOrder("packed.zip", "broken.jar", "something");
      assertThat(reason(catalog, "something")).startsWith("it is not a plugin");
      assertThat(reason(catalog, "broken.jar")).contains("broken.jar is not a jar");
      assertThat(reason(catalog, "packed.zip")).isEqualTo("it is packed");
    }
  }

  @Test
  void aMissingDependencyIsNamedAndTheGoodOnesStillLoad() throws IOException {
    SamplePlugin.named(work, "alpha").folder(plugins);
    SamplePlugin.named(work, "beta")
        .source("sample/Needed.java", "package sample; public class Needed {}")
        .provider("beta", "new SpiVersion(1, 0)", "private final Needed needed = new Needed();")
        .folder(plugins, "sample/Needed.class");
    SamplePlugin.named(work, "gamma").folder(plugins);

    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins))) {
      assertThat(catalog.providers())
          .extracting(LoadedProvider::name)
          .containsExactly("alpha", "gamma");
      assertThat(reason(catalog, "beta")).isEqualTo("class sample.Needed is missing");
      assertThatThrownBy(() -> catalog.select("beta"))
          .hasMessage(
              "provider beta: plugin beta ("
                  + plugins.resolve("beta")
                  + "): class sample.Needed is missing; put the jar that has it into the plugin's"
                  + " lib/ folder; there are: alpha, gamma");
    }
  }

  @Test
  void aSuperclassThatIsMissingIsNamed() throws IOException {
    SamplePlugin.named(work, "beta")
        .source("sample/Needed.java", "package sample; public interface Needed {}")
        .source("sample/Other.java", "package sample; public class Other implements Needed {}")
        .service("sample.Other")
        .folder(plugins, "sample/Needed.class");

    assertThat(onlyBroken(plugins).reason()).isEqualTo("class sample.Needed is missing");
  }

  @Test
  void aServiceThatNamesNoClassIsTold() throws IOException {
    SamplePlugin.named(work, "beta").service("sample.Nobody").folder(plugins);

    assertThat(onlyBroken(plugins).reason()).isEqualTo("Provider sample.Nobody not found");
  }

  @Test
  void anSpiVersionThatIsTooNewIsToldWithBoth() throws IOException {
    SamplePlugin.named(work, "beta")
        .provider("fast-net", "new SpiVersion(1, 7)", "")
        .folder(plugins);

    assertThat(onlyBroken(plugins).reason())
        .isEqualTo("its provider fast-net was built for SPI version 1.7, and this is 1.0");
    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins))) {
      assertThatThrownBy(() -> catalog.select("fast-net")).hasMessageContaining("SPI version 1.7");
    }
  }

  @Test
  void aRequirementThatThisVersionDoesNotMeetIsTold() throws IOException {
    SamplePlugin.named(work, "beta").property("plugin.requires", ">=2.0.0").folder(plugins);

    assertThat(onlyBroken(plugins).reason())
        .isEqualTo("it requires SPI version '>=2.0.0', and this is 1.0.0");
  }

  @Test
  void aMissingNativeLibraryIsNamed() throws IOException {
    SamplePlugin.named(work, "alpha")
        .provider("alpha", "new SpiVersion(1, 0)", "static { System.loadLibrary(\"nonesuch\"); }")
        .folder(plugins);
    SamplePlugin.named(work, "beta").folder(plugins);
    String version =
        "io.orbitkv.api.spi.SpiVersion.parse(String.valueOf(Native.lookup).isEmpty() ? \"\" : \"1.0\")";
    SamplePlugin.named(work, "gamma")
        .source(
            "sample/Native.java",
            """
            package sample;
            import java.lang.foreign.*;
            public class Native {
              static SymbolLookup lookup = SymbolLookup.libraryLookup("libnonesuch.so", Arena.global());
            }
            """)
        .provider("gamma", version, "")
        .folder(plugins);

    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins))) {
      assertThat(reason(catalog, "alpha"))
          .contains("native library is missing")
          .contains("nonesuch");
      assertThat(reason(catalog, "gamma"))
          .contains("native library is missing")
          .contains("libnonesuch.so");
      assertThat(catalog.providers()).extracting(LoadedProvider::name).containsExactly("beta");
    }
  }

  @Test
  void aProviderThatBreaksWhileItIsProbedIsUnusable() throws IOException {
    SamplePlugin.named(work, "alpha")
        .source("sample/Gone.java", "package sample; public class Gone { static int x; }")
        .probe("Probe.usable(\"found \" + ++Gone.x)")
        .folder(plugins, "sample/Gone.class");

    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins))) {
      assertThat(catalog.select("alpha").probe(Map.of()))
          .isEqualTo(
              Probe.unusable(
                  "class sample.Gone is missing",
                  "put the jar that has it into the plugin's lib/ folder"));
    }
  }

  @Test
  void aCopyOfTheSpiIsRefusedByTheNameOfItsJar() throws IOException {
    SamplePlugin.named(work, "beta")
        .source(
            "io/orbitkv/api/spi/Extra.java", "package io.orbitkv.api.spi; public class Extra {}")
        .folder(plugins);
    SamplePlugin.named(work, "alpha")
        .source("io/orbitkv/ffm/Extra.java", "package io.orbitkv.ffm; public class Extra {}")
        .jar(plugins);

    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins))) {
      assertThat(reason(catalog, "beta")).isEqualTo("beta.jar carries its own copy of the SPI");
      assertThat(reason(catalog, "alpha.jar"))
          .isEqualTo("alpha.jar carries its own copy of the SPI");
      assertThatThrownBy(() -> catalog.select("alpha")).hasMessageContaining("own copy of the SPI");
    }
  }

  @Test
  void namesAreWellFormedAndUnique() throws IOException {
    SamplePlugin.named(work, "alpha").folder(plugins);
    SamplePlugin.named(work, "beta").provider("alpha", "new SpiVersion(1, 0)", "").folder(plugins);
    SamplePlugin.named(work, "delta")
        .provider("De_lta", "new SpiVersion(1, 0)", "")
        .folder(plugins);
    SamplePlugin.named(work, "gamma")
        .provider("gamma", "new SpiVersion(1, 0)", "", "port")
        .folder(plugins);

    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins))) {
      assertThat(catalog.providers()).extracting(LoadedProvider::name).containsExactly("alpha");
      assertThat(reason(catalog, "beta"))
          .isEqualTo("provider alpha is already that of the plugin at " + plugins.resolve("alpha"));
      assertThat(reason(catalog, "delta")).contains("'De_lta' is malformed");
      assertThat(reason(catalog, "gamma")).contains("option 'port'").contains("malformed");
    }
  }

  @Test
  void aPluginThatNeedsAnotherOrHasAPluginClassIsRefused() throws IOException {
    SamplePlugin.named(work, "alpha").property("plugin.dependencies", "beta").folder(plugins);
    SamplePlugin.named(work, "beta").property("plugin.class", "sample.Main").folder(plugins);

    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins))) {
      assertThat(reason(catalog, "alpha")).isEqualTo("it depends on the plugin beta");
      assertThat(reason(catalog, "beta")).isEqualTo("it names a plugin class, sample.Main");
    }
  }

  @Test
  void aPluginSeesTheSpiAndNothingElseOfTheApplication() throws IOException {
    SamplePlugin.named(work, "alpha").folder(plugins);

    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins))) {
      ClassLoader loader = catalog.select("alpha").provider().getClass().getClassLoader();
      for (String hidden :
          List.of(
              "io.orbitkv.manager.plugin.ProviderCatalog",
              "com.google.gson.Gson",
              "org.pf4j.Plugin",
              "ch.qos.logback.classic.Logger",
              "io.grpc.Server")) {
        assertThatThrownBy(() -> loader.loadClass(hidden))
            .isInstanceOf(ClassNotFoundException.class);
      }
      for (String seen :
          List.of(
              "io.orbitkv.api.spi.Provider",
              "io.orbitkv.ffm.PageSize",
              "org.slf4j.Logger",
              "java.lang.foreign.Arena",
              "javax.net.ssl.SSLContext")) {
        assertThatClassLoads(loader, seen);
      }
      assertThat(loader.getResource("org/pf4j/Plugin.class")).isNull();
      assertThat(Collections.list(loader.getResources("META-INF/MANIFEST.MF"))).isEmpty();
    }
  }

  @Test
  void aPluginInUseStaysUntilItsUseEnds() throws Exception {
    SamplePlugin.named(work, "alpha").folder(plugins);
    ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins));
    LoadedProvider.Use use = catalog.select("alpha").use();

    catalog.close();

    assertThat(catalog.providers()).hasSize(1);
    use.close();
    assertThatThrownBy(use::close).isInstanceOf(IllegalStateException.class);
    catalog.close();
    assertThat(catalog.providers()).isEmpty();
  }

  @Test
  void nothingKeepsTheClassLoaderOfAnUnloadedPlugin() throws Exception {
    SamplePlugin.named(work, "alpha").folder(plugins);
    WeakReference<ClassLoader> loader;
    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(plugins))) {
      loader = new WeakReference<>(catalog.select("alpha").provider().getClass().getClassLoader());
    }
    long deadline = System.nanoTime() + 20_000_000_000L;
    while (loader.get() != null && System.nanoTime() < deadline) {
      System.gc();
      Thread.onSpinWait();
    }
    assertThat(loader.get()).isNull();
  }

  private static void assertThatClassLoads(ClassLoader loader, String name) {
    try {
      assertThat(loader.loadClass(name)).isNotNull();
    } catch (ClassNotFoundException e) {
      throw new AssertionError(name + " must be visible to plugins", e);
    }
  }

  private static BrokenPlugin onlyBroken(Path folder) {
    try (ProviderCatalog catalog = ProviderCatalog.load(List.of(folder))) {
      assertThat(catalog.providers()).isEmpty();
      assertThat(catalog.broken()).hasSize(1);
      return catalog.broken().getFirst();
    }
  }

  private static String reason(ProviderCatalog catalog, String id) {
    return catalog.broken().stream()
        .filter(plugin -> plugin.id().equals(id))
        .map(BrokenPlugin::reason)
        .findFirst()
        .orElseThrow(() -> new AssertionError(id + " is not broken: " + catalog.broken()));
  }
}
