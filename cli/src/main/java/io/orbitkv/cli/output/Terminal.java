package io.orbitkv.cli.output;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where the standard streams of this process go. */
public final class Terminal {
  private static final Path OUTPUT = Path.of("/proc/self/fd/1");
  private static final int MIN_COLUMNS = 60;
  private static final int MAX_COLUMNS = 120;

  private Terminal() {}

  /** Whether standard error is a terminal. */
  public static boolean onStandardError() {
    return is(Path.of("/proc/self/fd/2"));
  }

  /** Whether standard output is a terminal. */
  public static boolean onStandardOutput() {
    return is(OUTPUT);
  }

  /** Whether standard output is a pipe or a socket, which fail only once nobody reads them. */
  public static boolean outputIsPipe() {
    String target = target(OUTPUT);
    return target.startsWith("pipe:") || target.startsWith("socket:");
  }

  /**
   * How many columns text may have: those of the terminal on standard output, 60 to 120.
   *
   * @param otherwise the answer if it is no terminal, or does not tell
   */
  public static int columns(int otherwise) {
    return onStandardOutput() ? clamped(TerminalWidth.COLUMNS, otherwise) : otherwise;
  }

  static int clamped(int columns, int otherwise) {
    return columns > 0 ? Math.clamp(columns, MIN_COLUMNS, MAX_COLUMNS) : otherwise;
  }

  // Java's Console speaks for standard input and output only.
  private static boolean is(Path descriptor) {
    String target = target(descriptor);
    return target.startsWith("/dev/pts/")
        || target.startsWith("/dev/tty")
        || target.equals("/dev/console");
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "";
    }
  }
}
