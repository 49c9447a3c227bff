package io.orbitkv.api;

/**
 * The exception of every control path: a stable {@link FaultCode} and one line that names the
 * thing, the cause and the fix. Data paths return an {@link Outcome} instead. A subclass adds what
 * its thrower has proven.
 */
public class TransportException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final FaultCode code;

  /** A fault without an underlying exception. */
  public TransportException(FaultCode code, String message) {
    super(message);
    this.code = code;
  }

  /** A fault caused by another exception. */
  public TransportException(FaultCode code, String message, Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** The stable code. */
  public FaultCode code() {
    return code;
  }
}
