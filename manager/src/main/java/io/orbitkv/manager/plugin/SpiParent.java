package io.orbitkv.manager.plugin;

import java.util.List;

/**
 * What a plugin sees of the application: the SPI, the system calls, the log, and the JDK. No other
 * class and no resource, so that the libraries of the Manager are not those of its plugins.
 */
final class SpiParent extends ClassLoader {
  private static final List<String> SHARED =
      List.of("io.orbitkv.api.", "io.orbitkv.ffm.", "org.slf4j.");

  private final ClassLoader application;

  SpiParent(ClassLoader application) {
    super("orbitkv-spi", ClassLoader.getPlatformClassLoader());
    this.application = application;
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    if (SHARED.stream().anyMatch(name::startsWith)) {
      return application.loadClass(name);
    }
    throw new ClassNotFoundException(name);
  }
}
