package io.orbitkv.cli.output;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where the standard streams of this process go. */
public final class Terminal {
  private Terminal() {}

  /** Whether standard error is a terminal. */
  public static boolean onStandardError() {
    return is(Path.of("/proc/self/fd/2"));
  }

  /** Whether standard output is a terminal. */
  public static boolean onStandardOutput() {
    return is(Path.of("/proc/self/fd/1"));
  }

  // Java's Console speaks for standard input and output only.
  private static boolean is(Path descriptor) {
    try {
      String target = Files.readSymbolicLink(descriptor).toString();
      return target.startsWith("/dev/pts/")
          || target.startsWith("/dev/tty")
          || target.equals("/dev/console");
    } catch (IOException e) {
      return false;
    }
  }
}
