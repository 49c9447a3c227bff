package io.orbitkv.cli;

import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * What one command did.
 *
 * @param code its exit code
 * @param out what it wrote to stdout
 * @param err what it wrote to stderr
 */
record CommandRun(int code, String out, String err) {
  static CommandRun of(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        Main.commandLine()
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true))
            .execute(arguments);
    return new CommandRun(code, out.toString(), err.toString());
  }
}
