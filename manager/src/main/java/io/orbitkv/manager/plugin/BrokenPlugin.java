package io.orbitkv.manager.plugin;

import java.nio.file.Path;
import java.util.List;

/**
 * A plugin that could not be loaded, or a folder in which there was none.
 *
 * @param path its jar or folder
 * @param id its id, or its file name where it has none that can be read
 * @param claims the names of the providers in it, as far as they could be read
 * @param reason what is wrong, one line
 * @param fix what would mend it, one line
 */
public record BrokenPlugin(Path path, String id, List<String> claims, String reason, String fix) {
  /** Copies the names. */
  public BrokenPlugin {
    claims = List.copyOf(claims);
  }

  /** Whether somebody who asks for a provider of this name probably means this plugin. */
  boolean concerns(String provider) {
    String file = String.valueOf(path.getFileName());
    return claims.contains(provider)
        || id.equals(provider)
        || file.equals(provider)
        || file.equals(provider + ".jar");
  }

  /** One line. */
  @Override
  public String toString() {
    return "plugin " + id + " (" + path + "): " + reason + "; " + fix;
  }
}
