package io.orbitkv.cli;

import io.orbitkv.api.TransportException;
import io.orbitkv.manager.config.ConfigurationException;
import java.io.PrintWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Turns whatever ended a command into one line on stderr, {@code orbitkv: thing: cause; fix}, and
 * an exit code: 2 if the command was called wrongly, 1 for the rest.
 */
final class ErrorLine implements IParameterExceptionHandler, IExecutionExceptionHandler {
  private static final Logger LOG = LoggerFactory.getLogger(ErrorLine.class);

  @Override
  public int handleParseException(ParameterException failure, String[] args) {
    CommandLine command = failure.getCommandLine();
    String text = String.valueOf(failure.getMessage());
    if (failure instanceof UnmatchedArgumentException unmatched
        && !unmatched.getSuggestions().isEmpty()) {
      text += "; did you mean " + String.join(" or ", unmatched.getSuggestions()) + "?";
    }
    if (!text.contains("--help")) {
      text += "; see '" + command.getCommandSpec().qualifiedName() + " --help'";
    }
    print(command.getErr(), text);
    return ExitCode.USAGE;
  }

  @Override
  public int handleExecutionException(
      Exception failure, CommandLine command, ParseResult parseResult) {
    LOG.debug("the command failed", failure);
    boolean told =
        failure instanceof TransportException
            || failure instanceof CommandException
            || failure instanceof ConfigurationException;
    String message = failure.getMessage();
    print(
        command.getErr(),
        told && message != null
            ? message
            : failure + "; this is a defect: run again with ORBITKV_LOG_LEVEL=debug and report it");
    return failure instanceof ConfigurationException ? ExitCode.USAGE : ExitCode.SOFTWARE;
  }

  /** One line for what no command can go on from; returns the exit code. */
  static int fatal(Error failure, PrintWriter err) {
    LOG.debug("the command failed", failure);
    print(err, failure + "; run again with ORBITKV_LOG_LEVEL=debug to see where it comes from");
    return ExitCode.SOFTWARE;
  }

  private static void print(PrintWriter err, String text) {
    err.println("orbitkv: " + text.strip().replaceAll("\\s*\\R\\s*", " "));
    err.flush();
  }
}
