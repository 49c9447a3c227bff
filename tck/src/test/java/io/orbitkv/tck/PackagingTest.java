package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.spi.Provider;
import io.orbitkv.tck.template.TemplateProvider;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The packaging suite passes a sound plugin and fails each that is wrong in one way. */
class PackagingTest {
  private static final String PROPERTIES = "plugin.id=t\nplugin.version=1.0.0\n";
  private static final String REQUIRES = "plugin.requires=1.0.0\n";
  private static final List<String> TEMPLATE = List.of("Peer", "Provider", "Transport");

  /** Loaders that somebody forgot, as a plugin's thread would keep its own. */
  private static final List<ClassLoader> LEAKED = new ArrayList<>();

  @TempDir private Path folder = Path.of("");

  @Test
  void soundPluginPasses() throws IOException {
    assertThat(failed(jar(PROPERTIES + REQUIRES, false), false)).isEmpty();
  }

  @Test
  void pluginThatRequiresNoVersionFails() throws IOException {
    assertThat(failed(jar(PROPERTIES, false), false))
        .containsExactly("namesItselfAndTheVersionThatItRequires");
  }

  @Test
  void pluginThatCarriesTheApiFails() throws IOException {
    assertThat(failed(jar(PROPERTIES + REQUIRES, true), false))
        .contains("carriesNoCopyOfTheApiAndListsItsProvider");
  }

  @Test
  void pluginThatStaysLoadedFails() throws IOException {
    assertThat(failed(jar(PROPERTIES + REQUIRES, false), true))
        .containsExactly("unloadedPluginIsCollected");
  }

  private static List<String> failed(Path jar, boolean leaks) {
    PackagedFixture fixture =
        new PackagedFixture(new TemplateProvider(), Map.of(), new JarPackage(jar, leaks));
    return TckRun.run(fixture, List.of(Suite.PLUGIN_PACKAGING), _ -> {})
        .rows(TckRow.Result.FAILED)
        .stream()
        .map(TckRow::test)
        .toList();
  }

  private Path jar(String properties, boolean withApi) throws IOException {
    Path jar = folder.resolve("plugin.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      for (String part : TEMPLATE) {
        addClass(out, "io/orbitkv/tck/template/Template" + part + ".class");
      }
      if (withApi) {
        addClass(out, Epoch.class.getName().replace('.', '/') + ".class");
      }
      add(out, "META-INF/services/" + Provider.class.getName(), TemplateProvider.class.getName());
      add(out, "plugin.properties", properties);
    }
    return jar;
  }

  private static void addClass(JarOutputStream out, String file) throws IOException {
    try (InputStream in = TemplateProvider.class.getClassLoader().getResourceAsStream(file)) {
      assertThat(in).as("%s", file).isNotNull();
      out.putNextEntry(new JarEntry(file));
      in.transferTo(out);
      out.closeEntry();
    }
  }

  private static void add(JarOutputStream out, String name, String text) throws IOException {
    out.putNextEntry(new JarEntry(name));
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.closeEntry();
  }

  /** The least that loads a plugin apart from this class path: its own classes first. */
  private static final class OwnFirst extends URLClassLoader {
    OwnFirst(Path jar) throws IOException {
      super(new URL[] {jar.toUri().toURL()}, Provider.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        if (loaded != null) {
          return loaded;
        }
        return name.startsWith("io.orbitkv.tck.template.")
            ? findClass(name)
            : super.loadClass(name, resolve);
      }
    }
  }

  private record JarPackage(Path path, boolean leaks) implements PluginPackage {
    @Override
    public Loaded load() {
      try {
        OwnFirst loader = new OwnFirst(path);
        if (leaks) {
          LEAKED.add(loader);
        }
        List<Provider> found =
            ServiceLoader.load(Provider.class, loader).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
        return new Loaded() {
          @Override
          public List<Provider> providers() {
            return found;
          }

          @Override
          public void close() {
            try {
              loader.close();
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        };
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
