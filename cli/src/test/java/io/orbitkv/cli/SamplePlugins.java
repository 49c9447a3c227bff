package io.orbitkv.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.orbitkv.api.spi.Provider;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;

/** Makes plugins of providers of these tests. */
final class SamplePlugins {
  private SamplePlugins() {}

  /** A plugin in a jar of its own. */
  static Path jar(Path folder, String id, Class<? extends Provider> provider) throws IOException {
    String file = provider.getName().replace('.', '/') + ".class";
    Path jar = folder.resolve(id + ".jar");
    try (InputStream bytes = provider.getClassLoader().getResourceAsStream(file);
        JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      if (bytes == null) {
        throw new IOException(file + " is not on the class path");
      }
      entry(out, file, bytes.readAllBytes());
      entry(
          out, "META-INF/services/" + Provider.class.getName(), provider.getName().getBytes(UTF_8));
      entry(
          out,
          "plugin.properties",
          ("plugin.id=" + id + "\nplugin.version=1.0.0\nplugin.requires=1.0.0\n").getBytes(UTF_8));
    }
    return jar;
  }

  private static void entry(JarOutputStream out, String name, byte[] bytes) throws IOException {
    out.putNextEntry(new JarEntry(name));
    out.write(bytes);
    out.closeEntry();
  }
}
