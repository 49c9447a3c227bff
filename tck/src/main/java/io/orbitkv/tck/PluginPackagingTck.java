package io.orbitkv.tck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.spi.Provider;
import io.orbitkv.api.spi.SpiVersion;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The plugin as its users get it: what is in it, and that it loads and unloads. */
public abstract class PluginPackagingTck extends ProviderTck {
  private static final String SERVICE = "META-INF/services/" + Provider.class.getName();

  /** For subclasses. */
  protected PluginPackagingTck() {}

  private PluginPackage plugin() {
    needs(Behaviour.PACKAGE);
    return fixture()
        .plugin()
        .orElseThrow(
            () -> new AssertionError("the fixture has no plugin; give it one, or decline PACKAGE"));
  }

  @Test
  void namesItselfAndTheVersionThatItRequires() throws IOException {
    Properties properties = properties(plugin().path());
    assertThat(properties.getProperty("plugin.id")).isNotBlank();
    assertThat(properties.getProperty("plugin.version")).isNotBlank();
    assertThat(properties.getProperty("plugin.requires"))
        .as("plugin.requires: without it a plugin of another SPI would be loaded")
        .isNotBlank();
    assertThat(properties.getProperty("plugin.dependencies", "")).isEmpty();
  }

  private static Properties properties(Path plugin) throws IOException {
    Properties properties = new Properties();
    if (Files.isDirectory(plugin)) {
      try (InputStream in = Files.newInputStream(plugin.resolve("plugin.properties"))) {
        properties.load(in);
      }
      return properties;
    }
    try (JarFile jar = new JarFile(plugin.toFile())) {
      var entry = jar.getEntry("plugin.properties");
      assertThat(entry).as("plugin.properties in %s", plugin).isNotNull();
      try (InputStream in = jar.getInputStream(entry)) {
        properties.load(in);
      }
    }
    return properties;
  }

  @Test
  void carriesNoCopyOfTheApiAndListsItsProvider() throws IOException {
    List<String> services = new ArrayList<>();
    for (Path path : jars(plugin().path())) {
      try (JarFile jar = new JarFile(path.toFile())) {
        assertThat(jar.stream().map(entry -> entry.getName()))
            .as("classes of the api in %s", path)
            .noneMatch(name -> name.startsWith("io/orbitkv/api/") && name.endsWith(".class"));
        var entry = jar.getEntry(SERVICE);
        if (entry != null) {
          services.add(new String(jar.getInputStream(entry).readAllBytes(), UTF_8));
        }
      }
    }
    assertThat(services).as("jars with %s", SERVICE).isNotEmpty();
  }

  private static List<Path> jars(Path plugin) throws IOException {
    if (Files.isRegularFile(plugin)) {
      return List.of(plugin);
    }
    try (Stream<Path> files = Files.walk(plugin)) {
      return files.filter(path -> path.toString().endsWith(".jar")).toList();
    }
  }

  @Test
  void loadsAndFindsTheProvider() {
    try (PluginPackage.Loaded loaded = plugin().load()) {
      assertThat(loaded.providers())
          .extracting(Provider::name)
          .contains(fixture().provider().name());
      for (Provider provider : loaded.providers()) {
        assertThat(SpiVersion.CURRENT.supports(provider.spiVersion())).isTrue();
        assertThat(provider.getClass().getClassLoader())
            .as("the class loader of a plugin is its own")
            .isNotEqualTo(ProviderTck.class.getClassLoader());
      }
    }
  }

  @Test
  void unloadedPluginIsCollected() {
    WeakReference<ClassLoader> loader = loadAndUnload();
    Await.until(
        "the plugin's class loader is collected",
        () -> {
          System.gc();
          return loader.get() == null;
        });
  }

  private WeakReference<ClassLoader> loadAndUnload() {
    try (PluginPackage.Loaded loaded = plugin().load()) {
      return new WeakReference<>(loaded.providers().getFirst().getClass().getClassLoader());
    }
  }
}
