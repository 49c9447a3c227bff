package io.orbitkv.manager.plugin;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/**
 * Looks for copies of the SPI in a plugin. They would be other classes of the same names, and its
 * providers no providers to this Manager.
 */
final class BundledSpi {
  private static final Pattern SPI_CLASS =
      Pattern.compile("(META-INF/versions/\\d+/)?io/orbitkv/(api|ffm)/.*\\.class");

  private BundledSpi() {}

  /**
   * Refuses a plugin that carries its own copy.
   *
   * @throws PluginFault naming the jar
   */
  static void refuse(Path plugin) throws PluginFault {
    try {
      if (Files.isRegularFile(plugin)) {
        refuseJar(plugin);
        return;
      }
      for (String copy : List.of("classes/io/orbitkv/api", "classes/io/orbitkv/ffm")) {
        if (Files.exists(plugin.resolve(copy))) {
          throw fault("its folder " + copy);
        }
      }
      for (Path jar : jars(plugin.resolve("lib"))) {
        refuseJar(jar);
      }
    } catch (IOException e) {
      throw new PluginFault("it can not be read: " + e, "check its permissions", e);
    }
  }

  private static List<Path> jars(Path lib) throws IOException {
    List<Path> jars = new ArrayList<>();
    if (Files.isDirectory(lib)) {
      try (DirectoryStream<Path> found = Files.newDirectoryStream(lib, "*.jar")) {
        found.forEach(jars::add);
      }
    }
    jars.sort(null);
    return jars;
  }

  private static void refuseJar(Path jar) throws PluginFault, IOException {
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      if (zip.stream().anyMatch(entry -> SPI_CLASS.matcher(entry.getName()).matches())) {
        throw fault(String.valueOf(jar.getFileName()));
      }
    } catch (ZipException e) {
      throw new PluginFault(
          jar.getFileName() + " is not a jar (" + e.getMessage() + ")", "copy it again", e);
    }
  }

  private static PluginFault fault(String where) {
    return new PluginFault(
        where + " carries its own copy of the SPI",
        "build it with orbitkv-api and orbitkv-ffm as 'provided', without them inside");
  }
}
