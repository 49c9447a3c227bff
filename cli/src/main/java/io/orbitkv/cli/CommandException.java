package io.orbitkv.cli;

/** Ends a command with exit code 1; its message is one line: the thing, the cause, the fix. */
final class CommandException extends Exception {
  private static final long serialVersionUID = 1L;

  CommandException(String message) {
    super(message);
  }

  CommandException(String message, Throwable cause) {
    super(message, cause);
  }
}
