package io.orbitkv.manager.plugin;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Finds what may be a plugin: the folders and jars of a folder, or that folder itself. */
final class PluginFolder {
  private PluginFolder() {}

  /**
   * The plugins of a folder, by name.
   *
   * @param broken is told if there are none, and of archives that must be unpacked first
   */
  static List<Path> plugins(Path folder, Consumer<BrokenPlugin> broken) {
    if (isPlugin(folder)) {
      return List.of(folder);
    }
    List<Path> plugins = new ArrayList<>();
    List<Path> archives = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path entry : entries) {
        String name = String.valueOf(entry.getFileName());
        if (name.startsWith(".")) {
          continue;
        }
        if (name.endsWith(".jar") || Files.isDirectory(entry)) {
          plugins.add(entry);
        } else if (name.endsWith(".zip")) {
          archives.add(entry);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      broken.accept(unreadable(folder, e).in(folder, name(folder), List.of()));
      return List.of();
    }
    for (Path archive : archives) {
      broken.accept(
          new PluginFault("it is packed", "unzip it into a folder beside, and remove it")
              .in(archive, name(archive), List.of()));
    }
    if (plugins.isEmpty() && archives.isEmpty()) {
      broken.accept(
          new PluginFault("the folder has no plugin in it", "put a plugin's folder or jar into it")
              .in(folder, name(folder), List.of()));
    }
    plugins.sort(null);
    return plugins;
  }

  private static boolean isPlugin(Path path) {
    return Files.isRegularFile(path.resolve("plugin.properties"))
        || (name(path).endsWith(".jar") && Files.isRegularFile(path));
  }

  private static PluginFault unreadable(Path folder, Exception failure) {
    if (Files.notExists(folder)) {
      return new PluginFault("there is no such folder", "create it, or name another", failure);
    }
    if (Files.isRegularFile(folder)) {
      return new PluginFault("it is a file", "name the folder that holds plugins", failure);
    }
    return new PluginFault(
        "the folder can not be read: " + failure, "check its permissions", failure);
  }

  private static String name(Path path) {
    return String.valueOf(path.getFileName());
  }
}
