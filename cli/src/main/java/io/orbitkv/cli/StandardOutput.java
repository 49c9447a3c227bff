package io.orbitkv.cli;

import io.orbitkv.cli.output.Terminal;
import picocli.CommandLine.ExitCode;

/** Whether what a command printed has arrived. */
final class StandardOutput {
  /** What is said when it has not. */
  static final String LOST =
      "standard output: cannot be written, so what was printed is incomplete; check its space";

  private StandardOutput() {}

  /**
   * Looks once, at the end of a command. Whoever closed a pipe wants no more, and is told nothing.
   *
   * @param code the exit code so far
   * @return that, or 1 if output was lost
   */
  static int check(int code) {
    if (!System.out.checkError()) {
      return code;
    }
    if (code == ExitCode.OK && !Terminal.outputIsPipe()) {
      System.err.println("orbitkv: " + LOST);
    }
    return code == ExitCode.OK ? ExitCode.SOFTWARE : code;
  }
}
