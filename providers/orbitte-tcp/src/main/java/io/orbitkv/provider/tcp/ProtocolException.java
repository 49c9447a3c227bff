package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;

/**
 * What the other side sent, or did not send, ends the connection. One line, for log and outcome.
 */
final class ProtocolException extends Exception {
  private static final long serialVersionUID = 1L;

  private final FaultCode code;

  ProtocolException(FaultCode code, String message) {
    super(message);
    this.code = code;
  }

  FaultCode code() {
    return code;
  }

  /** The one line. */
  String line() {
    return String.valueOf(getMessage());
  }
}
