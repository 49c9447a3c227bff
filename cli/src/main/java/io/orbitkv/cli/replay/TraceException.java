package io.orbitkv.cli.replay;

/** A trace that can not be replayed. Its message is one line: file and line, cause, fix. */
public final class TraceException extends Exception {
  private static final long serialVersionUID = 1L;

  TraceException(String message) {
    super(message);
  }
}
