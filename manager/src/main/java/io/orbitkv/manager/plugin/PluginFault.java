package io.orbitkv.manager.plugin;

import io.orbitkv.api.spi.Provider;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceConfigurationError;
import org.jspecify.annotations.Nullable;

/** What is wrong with one plugin, on its way to its {@link BrokenPlugin}. */
final class PluginFault extends Exception {
  private static final long serialVersionUID = 1L;

  private final String fix;

  PluginFault(String reason, String fix) {
    super(reason);
    this.fix = fix;
  }

  PluginFault(String reason, String fix, @Nullable Throwable cause) {
    super(reason, cause);
    this.fix = fix;
  }

  /** Puts into words what the service loader says. */
  static PluginFault ofService(ServiceConfigurationError failure) {
    if (failure.getCause() != null) {
      return of(failure.getCause());
    }
    String message = String.valueOf(failure.getMessage());
    String service = Provider.class.getName();
    return new PluginFault(
        message.startsWith(service + ": ") ? message.substring(service.length() + 2) : message,
        "mend META-INF/services/" + service + " in its jar",
        failure);
  }

  /** Puts into words what the JVM or the class path says. */
  static PluginFault of(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null
        && !(root instanceof LinkageError && root.getMessage() != null)) {
      root = root.getCause();
    }
    String message = String.valueOf(root.getMessage());
    return switch (root) {
      case UnsupportedClassVersionError e ->
          new PluginFault(
              "it was compiled for a newer Java: " + message, "run a newer Java, or rebuild it", e);
      case NoClassDefFoundError e ->
          new PluginFault(
              "class " + message.replace('/', '.') + " is missing",
              "put the jar that has it into the plugin's lib/ folder",
              e);
      case ClassNotFoundException e ->
          new PluginFault(
              "class " + message + " is missing",
              "put the jar that has it into the plugin's lib/ folder",
              e);
      case UnsatisfiedLinkError e ->
          new PluginFault(
              "a native library is missing: " + message,
              "install it, or name its folder as the provider's documentation says",
              e);
      // What java.lang.foreign throws for a library that is not there.
      case IllegalArgumentException e when message.startsWith("Cannot open library") ->
          new PluginFault(
              "a native library is missing: " + message,
              "install it, or name its folder as the provider's documentation says",
              e);
      case IncompatibleClassChangeError e ->
          new PluginFault(
              "it does not fit this version of the SPI: " + message, "rebuild it for this one", e);
      default ->
          new PluginFault(
              "it failed while it was loaded: " + root,
              "its provider is at fault: ask who made it",
              root);
    };
  }

  BrokenPlugin in(Path path, String id, List<String> claims) {
    return new BrokenPlugin(path, id, claims, line(String.valueOf(getMessage())), line(fix));
  }

  private static String line(String text) {
    return text.strip().replaceAll("\\s*\\R\\s*", " ");
  }
}
