package io.orbitkv.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.orbitkv.api.spi.Provider;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;

/** Makes plugins of providers of these tests. */
final class SamplePlugins {
  private SamplePlugins() {}

  /** A plugin of one class in a jar of its own. */
  static Path jar(Path folder, String id, Class<? extends Provider> provider) throws IOException {
    return jar(folder, id, provider, List.of());
  }

  /** A plugin in a jar of its own, with further classes of the provider's package. */
  static Path jar(Path folder, String id, Class<? extends Provider> provider, List<String> others)
      throws IOException {
    Path jar = folder.resolve(id + ".jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      addClass(out, provider, provider.getSimpleName());
      for (String other : others) {
        addClass(out, provider, other);
      }
      entry(
          out, "META-INF/services/" + Provider.class.getName(), provider.getName().getBytes(UTF_8));
      entry(
          out,
          "plugin.properties",
          ("plugin.id=" + id + "\nplugin.version=1.0.0\nplugin.requires=1.0.0\n").getBytes(UTF_8));
    }
    return jar;
  }

  private static void addClass(JarOutputStream out, Class<?> provider, String name)
      throws IOException {
    String file = provider.getPackageName().replace('.', '/') + "/" + name + ".class";
    try (InputStream bytes = provider.getClassLoader().getResourceAsStream(file)) {
      if (bytes == null) {
        throw new IOException(file + " is not on the class path");
      }
      entry(out, file, bytes.readAllBytes());
    }
  }

  private static void entry(JarOutputStream out, String name, byte[] bytes) throws IOException {
    out.putNextEntry(new JarEntry(name));
    out.write(bytes);
    out.closeEntry();
  }
}
